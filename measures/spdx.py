"""Licences by SPDX id. `spdx.json` has the ids; its first lines state source and licence of the list."""

import json
from functools import cache
from importlib.resources import files

CREATIVE_COMMONS = "https://creativecommons.org"
#: Web addresses of common licences of data sets.
ADDRESSES = {
    "CC0-1.0": f"{CREATIVE_COMMONS}/publicdomain/zero/1.0/legalcode",
    "CC-BY-4.0": f"{CREATIVE_COMMONS}/licenses/by/4.0/legalcode",
    "CC-BY-SA-4.0": f"{CREATIVE_COMMONS}/licenses/by-sa/4.0/legalcode",
    "CC-BY-NC-4.0": f"{CREATIVE_COMMONS}/licenses/by-nc/4.0/legalcode",
    "CC-BY-NC-SA-4.0": f"{CREATIVE_COMMONS}/licenses/by-nc-sa/4.0/legalcode",
    "CC-BY-ND-4.0": f"{CREATIVE_COMMONS}/licenses/by-nd/4.0/legalcode",
    "CC-BY-NC-ND-4.0": f"{CREATIVE_COMMONS}/licenses/by-nc-nd/4.0/legalcode",
    "ODC-By-1.0": "https://opendatacommons.org/licenses/by/1-0/",
    "ODbL-1.0": "https://opendatacommons.org/licenses/odbl/1-0/",
    "PDDL-1.0": "https://opendatacommons.org/licenses/pddl/1-0/",
    "Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0",
    "MIT": "https://opensource.org/license/mit",
}


@cache
def _ids() -> dict[str, str]:
    """Return the SPDX ids by their lower-case form."""
    listed = json.loads(files("measures").joinpath("spdx.json").read_text("ascii"))["ids"]
    return {spdx_id.lower(): spdx_id for spdx_id in listed}


def spdx_id(text: str) -> str | None:
    """Return the SPDX id with the capitals of the list; None if there is no such id."""
    return _ids().get(text.strip().lower())


def address(spdx: str) -> str:
    """Return the web address of a licence."""
    return ADDRESSES.get(spdx, f"https://spdx.org/licenses/{spdx}.html")
