"""How Sphinx builds the documentation."""

from importlib.metadata import version as installed_version
from pathlib import Path

project = "tripleo-worker"
author = "The tripleo-worker developers"
project_copyright = "The tripleo-worker developers"
release = version = installed_version("tripleo-worker")

extensions = [
    "cliff.sphinxext",
    "oslo_config.sphinxext",
    "oslo_policy.sphinxext",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns: list[str] = []

# Release notes are read from the history, which an archive of the sources does not hold.
if (Path(__file__).parents[2] / ".git").exists():
    extensions.append("reno.sphinxext")
else:
    exclude_patterns.append("reference/release-notes.rst")

html_theme = "furo"
html_title = f"tripleo-worker {release}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_numpy_docstring = False
smartquotes = False
suppress_warnings = ["ref.python"]

autoprogram_cliff_application = "openstack"

man_pages = [
    (
        "cli/tripleo-worker",
        "tripleo-worker",
        "watch and deploy OpenStack overclouds",
        [author],
        1,
    ),
    (
        "cli/openstack-overcloud",
        "openstack-overcloud",
        "deploy an overcloud and follow it",
        [author],
        1,
    ),
]
