# SPDX-License-Identifier: Apache-2.0
"""JSON is YAML: configurations for tests without a library."""

import json


def text(config) -> str:
    return json.dumps(config, indent=1) + "\n"
