"""The pictures that a client sends with a prompt."""

import base64
import binascii
from collections.abc import Sequence

from coderelay.client.i18n import speaking
from coderelay.client.image_files import picture_of
from coderelay.protocol.errors import BadInput
from coderelay.protocol.message_content import Image
from coderelay.surfaces.web.incoming_client_events import Attachment


def images_of(attachments: Sequence[Attachment]) -> tuple[Image, ...]:
    """Raises BadInput for what no model would take. The data says what kind of picture it is; programs are often
    wrong about that."""
    return tuple(_image(each, f"attachment {number}") for number, each in enumerate(attachments, 1))


def _image(attachment: Attachment, name: str) -> Image:
    try:
        data = base64.b64decode(attachment.data, validate=True)
    except binascii.Error as error:
        raise BadInput(f"the data of {name} is not valid base64") from error
    with speaking("en"):
        return picture_of(data, name).image
