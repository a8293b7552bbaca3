"""Following a stack: slices, keep-alives, give-ups, and who frees the lock."""

import msgspec
import pytest

from tests.unit.actions.stacks import Services, lost, stack
from tripleo_actions import deployment, locks, stack_follow, stack_lock
from tripleo_actions.deployment import WaitForStack
from tripleo_actions.faults import CallFailed
from tripleo_actions.stack_watch import Started, deployment_status

LOCK = "oc/deployment"


@pytest.fixture
def services():
    made = Services()
    made.swift.create_container("tripleo-locks", {})
    return made


class Clock:
    """Seconds that pass only when somebody sleeps; ``then`` runs at given seconds."""

    def __init__(self, then=None):
        self.now = 0.0
        self.then = then or {}

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        for at in [at for at in self.then if at <= self.now]:
            self.then.pop(at)()


def started(action="CREATE", **more):
    return Started(plan="oc", stack_name="oc", stack_id="s1", action=action, **more)


def follow(services, seconds=60, clock=None, **more):
    clock = clock or Clock()
    told = started(**more)
    return stack_follow.follow(services, told, seconds, sleep=clock.sleep, clock=clock)


def test_a_slice_ends_and_says_that_it_goes_on(services):
    services.heat.stack_found = stack("CREATE_IN_PROGRESS")
    clock = Clock()
    outcome = follow(services, 60, clock)
    assert (outcome.done, outcome.status) == (False, "RUNNING")
    assert clock.now == pytest.approx(60, abs=2)


def test_the_end_is_seen_at_the_next_look(services):
    services.heat.stack_found = stack("CREATE_IN_PROGRESS")
    end = {7: lambda: setattr(services.heat, "stack_found", stack("CREATE_COMPLETE"))}
    clock = Clock(end)
    assert follow(services, 60, clock).status == "SUCCESS"
    assert clock.now < 9


def test_a_heat_that_does_not_answer_is_asked_again(services):
    answers = [lost(), lost(503), stack("CREATE_COMPLETE")]

    def ask(name):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    services.heat.stack = ask
    assert follow(services).status == "SUCCESS"


def test_a_heat_that_stays_away_fails_nothing_within_a_slice(services):
    def away(name):
        raise lost()

    services.heat.stack = away
    outcome = follow(services)
    assert not outcome.done
    assert "cannot be seen" in outcome.message


def test_a_heat_that_refuses_ends_the_wait_without_a_claim_about_the_stack(services):
    def refuse(name):
        raise CallFailed("Heat", 401, "Heat answered 401: The token has expired.")

    services.heat.stack = refuse
    with pytest.raises(CallFailed, match=r"expired\. Whether the stack oc goes on is not known"):
        follow(services)


def test_nobody_waits_past_the_deadline(services):
    services.heat.stack_found = stack("DELETE_IN_PROGRESS")
    outcome = follow(services, 600, action="DELETE", deadline=30.0)
    assert (outcome.done, outcome.status) == (True, "FAILED")
    assert "Gave up waiting. The stack oc is DELETE_IN_PROGRESS." in outcome.message


def test_a_cancelled_execution_is_waited_for_no_longer(services):
    services.heat.stack_found = stack("CREATE_IN_PROGRESS")
    end = {10: lambda: services.mistral.states.update(e1="CANCELLED")}
    clock = Clock(end)
    outcome = follow(services, 600, clock)
    assert (outcome.done, outcome.status) == (True, "CANCELLED")
    assert clock.now < 20


def wait(services, **more):
    lease = stack_lock.hold(services, "oc")
    told = msgspec.to_builtins(started(nonce=lease.nonce, **more))
    return WaitForStack(told, type="t.v1.w").perform(services)


def test_a_slice_keeps_the_lock_and_the_listeners(services, monkeypatch):
    monkeypatch.setattr(deployment, "SLICE", 0)
    services.heat.stack_found = stack("CREATE_IN_PROGRESS")
    result = wait(services)
    assert (result["done"], result["deployment_status"]) == (False, "DEPLOYING")
    [payload] = services.zaqar.payloads("tripleo")
    assert (payload["status"], payload["execution_id"]) == ("RUNNING", "e1")
    assert locks.holder(services.swift, LOCK)["owner"] == "execution e1"


@pytest.mark.parametrize(
    ("word", "status"),
    [("CREATE_COMPLETE", "DEPLOY_SUCCESS"), ("CREATE_FAILED", "DEPLOY_FAILED")],
)
def test_the_end_frees_the_lock_and_posts_nothing_itself(services, word, status):
    services.heat.stack_found = stack(word)
    result = wait(services)
    assert (result["done"], result["deployment_status"]) == (True, status)
    assert not locks.holder(services.swift, LOCK)
    assert services.zaqar.posted == []


def test_an_error_frees_the_lock_too(services):
    def refuse(name):
        raise CallFailed("Heat", 403, "no")

    services.heat.stack = refuse
    with pytest.raises(CallFailed):
        wait(services)
    assert not locks.holder(services.swift, LOCK)


def test_a_failure_is_told_without_the_list_if_heat_gives_none(services):
    services.heat.stack_found = stack("CREATE_FAILED", stack_status_reason="timed out")
    services.heat.fails["resources"] = lost()
    assert follow(services).message == "The stack oc is CREATE_FAILED. timed out"


def test_a_wait_without_a_stack_ends_at_once(services):
    told = Started(plan="oc", stack_name="oc", stack_id="", action="DELETE")
    outcome = stack_follow.follow(services, told, 60)
    assert (outcome.done, outcome.status) == (True, "SUCCESS")
    assert "nothing was to be deleted" in outcome.message


@pytest.mark.parametrize(
    ("action", "status", "word"),
    [("CREATE", "SUCCESS", "DEPLOY_SUCCESS"), ("UPDATE", "FAILED", "DEPLOY_FAILED"),
     ("UPDATE", "RUNNING", "DEPLOYING"), ("DELETE", "SUCCESS", "UNDEPLOYED"),
     ("DELETE", "FAILED", "UNDEPLOY_FAILED"), ("DELETE", "RUNNING", "UNDEPLOYING"),
     ("CREATE", "CANCELLED", "UNKNOWN")],
)  # fmt: skip
def test_each_state_has_the_word_of_clients_in_the_field(action, status, word):
    assert deployment_status(action, status) == word
