"""Tables of the releases app."""

from .citation import Creator as Creator
from .citation import CreditRole as CreditRole
from .citation import DataCiteRelation as DataCiteRelation
from .citation import DataSheet as DataSheet
from .citation import Funder as Funder
from .citation import IdentifierType as IdentifierType
from .citation import RelatedIdentifier as RelatedIdentifier
from .release import Release as Release
