"""All tables of one server, each in a folder of its own, and the server's secrets."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

import msgspec

from ...errors import WolflabError
from ...files import read_json, write
from ...lab.plans.meanings import MEANINGS
from ...lab.runs.tables import RunAtTables, check_own_agents
from ...lab.storage.run_files import locked, unlocked
from ...lab.storage.store import Store
from ...renamed import existing_file
from ...rules import PRESETS, SUMMARIES
from .refusals import Refused
from .table_plan import (
    MODEL,
    TABLE,
    TablePlan,
    TableRequest,
    TableSeat,
    new_code,
    new_secret,
    nickname,
    read_plan,
    secret_hash,
    web_rules,
)
from .timeline import clock
from .web_table import WebTable

SERVER_FILE = "server.json"
RECIPES = {
    "vanilla": "answers at once",
    "deductive": "judges the others first",
    "reflective": "looks back at what was said",
    "diverse": "weighs several actions",
    "random": "plays at random, says nothing",
}
"""Recipes that anybody may seat, with the built-in model. The host may use any other."""
_UNUSED = 120.0
"""Seconds after which an unwatched finished table is removed from memory."""
_DAY = 86_400.0
"""Seconds after which a table that never began is deleted."""
_SHORTEST_NIGHT = 1.0
"""The shortest night in seconds. Choices at night are due at a multiple of a night's length."""
_LISTED = 50
"""The most tables in the list."""
_log = logging.getLogger("wolflab")


class _ServerSecrets(msgspec.Struct):
    """A server's stored secrets. server: the part of its cookies' names. host, access: tokens."""

    server: str
    host: str
    access: str


class TableServer:
    """The tables of one server. folder: of all tables. guarded: an access token is needed. store: a study's
    run, if its games are played here; None if each table has a run of its own.
    """

    def __init__(self, folder: Path, guarded: bool = False, store: Store | None = None) -> None:
        self.folder = folder
        self._run = None if store is None else RunAtTables.of(store)
        self.guarded = guarded
        self.facts = _facts(existing_file(folder / SERVER_FILE))
        self.tables: dict[str, WebTable] = {}
        self._sweeping: asyncio.Task[None] | None = None
        self._lock: int | None = None

    def hold(self) -> None:
        """Lock the folder until `close`; StoreError if another server has it."""
        if self._lock is None:
            self._lock = locked(self.folder)

    def open(self) -> None:
        """Resume every table that was in play when the server stopped. An unreadable one is left as it is,
        and logged.
        """
        self.hold()
        for file in sorted(self.folder.glob(f"*/{TABLE}")):
            try:
                if read_plan(file.parent).state == "over":
                    continue
                table = WebTable.open(file.parent, self._run)
            except WolflabError as error:
                _log.error("%s", error)
                continue
            self.tables[table.plan.code] = table
            if table.plan.state == "playing":
                table.game.play()
        self._sweeping = asyncio.create_task(self._sweep())

    def close(self) -> None:
        """Stop; everything is stored."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        for table in self.tables.values():
            try:
                table.close()
            except WolflabError as error:
                _log.error("%s", error)
        if self._lock is not None:
            unlocked(self._lock)
            self._lock = None

    def table(self, code: str) -> WebTable:
        """The table of that code; Refused if there is none."""
        code = code.upper()
        if code not in self.tables:
            folder = self.folder / code
            if not (re.fullmatch(r"[A-Z0-9]{6}", code) and (folder / TABLE).is_file()):
                raise Refused(404, f"there is no table {code[:20]}; look at its code again")
            self.tables[code] = WebTable.open(folder, self._run)
        table = self.tables[code]
        table.used = clock()
        return table

    def make(self, wish: TableRequest, host: bool) -> tuple[WebTable, str, str]:
        """Make a table. Returns it, its maker's secret, and that of the shared device. Refused for an
        impossible table, and for a paid model unless the host asks for it.
        """
        if wish.rules not in PRESETS:
            raise Refused(422, f"rules: there are none called {wish.rules[:40]!r}; use {', '.join(PRESETS)}")
        rules = web_rules(wish.rules)
        if len(wish.seats) != rules.players:
            raise Refused(422, f"seats: {len(wish.seats)} are given; {wish.rules} has {rules.players}")
        if 0 < wish.times.night < _SHORTEST_NIGHT:
            raise Refused(422, f"times.night: {wish.times.night:g} seconds; use {_SHORTEST_NIGHT:g} or more")
        if all(seat.kind == "agent" for seat in wish.seats):
            raise Refused(422, "seats: no person is to play; wolflab play shows a game without people")
        if not wish.marked and any(seat.kind == "shared" for seat in wish.seats):
            raise Refused(
                422,
                "seats: around a shared device all see who is a person; mark agents as agents, or give "
                "everybody a link",
            )
        for number, seat in enumerate(wish.seats):
            own = seat.model == MODEL and seat.recipe in RECIPES
            if seat.kind == "agent" and not own and not host:
                raise Refused(
                    403,
                    f"{rules.names[number]}: only the host may seat {seat.model[:60]} with "
                    f"{seat.recipe[:60]}; use {MODEL} with {', '.join(RECIPES)}, or open the host's link",
                )
        seats = [TableSeat(seat.kind, seat.model, seat.recipe) for seat in wish.seats]
        if not wish.marked:
            random.SystemRandom().shuffle(seats)  # so that not even the maker knows who sits where
        keeper, device = new_secret(), new_secret()
        plan = TablePlan(
            code=self.free_code(),
            name=nickname(wish.name) or f"A table of {rules.players}",
            seats=seats,
            seed=secrets.randbelow(2**31),
            made=time.time(),
            keeper=secret_hash(keeper),
            device=secret_hash(device) if any(seat.kind == "shared" for seat in seats) else "",
            **{name: getattr(wish, name) for name in ("rules", "listed", "times", "vanish", "marked")},
            measure=wish.measure,
            budget=wish.budget,
            meanings=MEANINGS,
        )
        check_own_agents(plan.experiment())  # what cannot be played is said now
        return self.add(plan), keeper, device

    def free_code(self) -> str:
        """An unused code."""
        code = new_code()
        while (self.folder / code).exists():
            code = new_code()
        return code

    def add(self, plan: TablePlan) -> WebTable:
        """Add a table."""
        table = WebTable(plan, self.folder / plan.code, self._run)
        table.used = clock()
        table.save()
        self.tables[plan.code] = table
        return table

    def again(self, table: WebTable, host: bool) -> tuple[WebTable, str, str]:
        """Make a table of the same kind for the same people, once after each game."""
        if table.plan.state != "over":
            raise Refused(409, "this game is not over yet")
        if self._is_there(table.plan.next):
            raise Refused(409, f"the next table is there already: {table.plan.next}")
        made = self.make(table.plan.wish, host)
        table.plan.next = made[0].plan.code
        table.save()
        table.touch()
        return made

    def _is_there(self, code: str) -> bool:
        return bool(code) and (self.folder / code / TABLE).is_file()

    def listing(self, host: bool) -> dict[str, Any]:
        """The list of tables, and the choices for a new one."""
        newest = sorted(self.tables.values(), key=lambda table: -table.plan.made)
        return {
            "tables": [_line(table) for table in newest if table.plan.listed or host][:_LISTED],
            "rules": [
                {
                    "name": name,
                    "about": SUMMARIES[name],
                    "players": rules.players,
                    "roles": dict(rules.roles),
                    "seats": list(rules.names),
                }
                for name, rules in ((name, web_rules(name)) for name in PRESETS)
            ],
            "recipes": [{"name": name, "about": about} for name, about in RECIPES.items()],
            "host": host,
            "models": [MODEL],
        }

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_UNUSED / 4)
            for code, table in list(self.tables.items()):
                unused = clock() - table.used > _UNUSED and not table.watched
                if unused and table.plan.state == "over":
                    table.drop()
                    del self.tables[code]
                elif (
                    table.plan.state == "lobby" and time.time() - table.plan.made > _DAY and not table.watched
                ):
                    table.drop()
                    del self.tables[code]
                    shutil.rmtree(table.folder, ignore_errors=True)


def _line(table: WebTable) -> dict[str, Any]:
    plan = table.plan
    return {
        "code": plan.code,
        "name": plan.name,
        "rules": plan.rules,
        "state": plan.state,
        "open": sum(seat.of_person and not seat.taken for seat in plan.seats) if plan.state == "lobby" else 0,
        "people": len(plan.people),
        "players": len(plan.seats),
        "made": plan.made,
    }


def _facts(file: Path) -> _ServerSecrets:
    if file.is_file():
        return read_json(file, _ServerSecrets, "remove it, and new links are made")
    facts = _ServerSecrets(secrets.token_hex(4), new_secret(), new_secret())
    write(file, msgspec.json.encode(facts))
    os.chmod(file, 0o600)
    return facts
