"""Heat: stacks, their preview, and the resources that failed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from keystoneauth1.session import Session

from tripleo_actions.faults import NotThere
from tripleo_actions.services.rest import Service

#: Seconds for calls in which Heat reads all templates of a plan.
TEMPLATE_TIMEOUT = 300.0

#: Depth of nesting below which no resource of an overcloud stands.
NESTED_DEPTH = 20


class Heat(Service):
    """The stacks of the caller's project."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "orchestration", "Heat")

    def stack(self, name_or_id: str) -> dict[str, Any] | None:
        """A stack without its outputs (cheap), or None if there is none.

        Heat's fields: ``id``, ``stack_name``, ``stack_status``, ``stack_status_reason``,
        ``creation_time``, ``updated_time``.
        """
        try:
            reply = self.call(
                "GET", f"/stacks/{quote(name_or_id, safe='/')}", params={"resolve_outputs": "False"}
            )
        except NotThere:
            return None
        stack: dict[str, Any] = reply.json()["stack"]
        return None if stack["stack_status"] == "DELETE_COMPLETE" else stack

    def create(self, name: str, body: dict[str, Any], timeout_mins: int) -> str:
        """Start creating a stack.

        Args:
            name: Of the new stack.
            body: ``template``, ``files`` and ``environment``.
            timeout_mins: After which Heat gives up by itself.

        Returns:
            The stack's id.
        """
        request = body | {
            "stack_name": name,
            "timeout_mins": timeout_mins,
            "disable_rollback": True,
        }
        reply = self.call("POST", "/stacks", json=request, timeout=TEMPLATE_TIMEOUT)
        return str(reply.json()["stack"]["id"])

    def update(self, name: str, stack_id: str, body: dict[str, Any], timeout_mins: int) -> None:
        """Start updating a stack; ``body`` as for :meth:`create`."""
        request = body | {"timeout_mins": timeout_mins, "disable_rollback": True}
        self.call("PUT", _path(name, stack_id), json=request, timeout=TEMPLATE_TIMEOUT)

    def delete_stack(self, name: str, stack_id: str) -> None:
        """Start deleting a stack; one that is gone is no error."""
        self.call("DELETE", _path(name, stack_id), also=(404,))

    def cancel(self, name: str, stack_id: str) -> None:
        """Stop what a stack is doing and leave it as it then stands."""
        action = {"cancel_without_rollback": None}
        self.call("POST", _path(name, stack_id) + "/actions", json=action)

    def preview(self, name: str, body: dict[str, Any]) -> list[Any]:
        """The resources that creating a stack would make; those of a nested stack as a list."""
        request = body | {"stack_name": name}
        reply = self.call("POST", "/stacks/preview", json=request, timeout=TEMPLATE_TIMEOUT)
        resources: list[Any] = reply.json()["stack"]["resources"]
        return resources

    def deployed(self, name: str, stack_id: str) -> dict[str, Any]:
        """What a stack was last asked to be.

        Returns:
            ``template``, ``files`` and ``environment``; hidden values are masked by Heat.
        """
        parts = ("template", "files", "environment")
        return {part: self.call("GET", f"{_path(name, stack_id)}/{part}").json() for part in parts}

    def validate(self, body: dict[str, Any]) -> dict[str, Any]:
        """Validate a plan's templates, nested ones too.

        Returns:
            Heat's tree: ``Parameters``, ``NestedParameters``, ``Description``, ….

        Raises:
            CallFailed: the templates or parameters are not valid; Heat's words are the text.
        """
        reply = self.call(
            "POST",
            "/validate",
            params={"show_nested": "True"},
            json=body,
            timeout=TEMPLATE_TIMEOUT,
        )
        tree: dict[str, Any] = reply.json()
        return tree

    def resources(self, name: str, stack_id: str, status: str = "") -> list[dict[str, Any]]:
        """Every resource of a stack, nested ones too.

        Args:
            name: The stack's name.
            stack_id: Its id.
            status: Only those whose last action ended so, e.g. FAILED.

        Returns:
            As Heat lists them: ``resource_name``, ``resource_type``, ``resource_status``
            (CREATE_COMPLETE and the like), ``resource_status_reason``, ``links``.
        """
        params = {"nested_depth": str(NESTED_DEPTH), **({"status": status} if status else {})}
        reply = self.call(
            "GET", f"{_path(name, stack_id)}/resources", params=params, timeout=TEMPLATE_TIMEOUT
        )
        listed: list[dict[str, Any]] = reply.json()["resources"]
        return listed


def _path(name: str, stack_id: str) -> str:
    return f"/stacks/{quote(name, safe='')}/{quote(stack_id, safe='')}"
