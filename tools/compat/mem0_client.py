"""The programs of mem0's documentation, for one version of its client: mem0_client.py VERSION HOST."""

import asyncio
import sys
import warnings

warnings.simplefilter("ignore")
from mem0 import AsyncMemoryClient, MemoryClient  # noqa: E402

version, host = sys.argv[1:]
old = version.startswith("0.")  # owners beside the query, lists as answers
messages = [
    {"role": "user", "content": "Hi, I'm Alex. I'm a vegetarian and I'm allergic to nuts."},
    {"role": "assistant", "content": "Hello Alex! I've noted that you're a vegetarian and have a nut allergy."},
]


def rows(answer):
    return answer["results"] if isinstance(answer, dict) else answer


def owner(user):
    return {"user_id": user} if old else {"filters": {"user_id": user}}


def check(condition, what):
    if not condition:
        raise SystemExit(f"mem0ai {version}: {what}")


client = MemoryClient(api_key="any", host=host)
check(client.org_id and client.project_id and client.user_email, "the constructor knows no organisation, project or user")
user = f"alex-{version}"
added = rows(client.add(messages, user_id=user, metadata={"food": "vegan"}))
check(any("vegetarian" in m["memory"] for m in added), f"add names {added}")
client.add([{"role": "user", "content": "I live in Rome."}], user_id=user)
client.add([{"role": "user", "content": "I moved, I live in Oslo now."}], user_id=user)
found = rows(client.search("What can I eat?", **owner(user)))
check(found and "vegetarian" in found[0]["memory"] and 0.1 < found[0]["score"] <= 1, f"search finds {found}")
found = rows(client.search("Where does the user live?", **owner(user), threshold=0.1))
check(found and "Oslo" in found[0]["memory"] and not any("Rome" in m["memory"] for m in found), f"search finds {found}")
if old:
    page = client.search("What can I eat?", user_id=user, output_format="v1.1")
    check(page["results"], f"output_format v1.1 is {page}")
    check(client.search("nuts", version="v2", filters={"AND": [{"user_id": user}]}), "no result of version v2")
    check(client.get_all(version="v2", filters={"AND": [{"user_id": user}]}, page=1, page_size=50), "no list of version v2")
all_of = rows(client.get_all(**owner(user)))
check(not any("Hi, I'm Alex" in m["memory"] for m in all_of), f"a turn is in the list {all_of}")
first = next(m for m in all_of if "nuts" in m["memory"])
check(client.get(first["id"])["metadata"] == {"food": "vegan"}, "a memory without the metadata of its messages")
client.update(first["id"], text="Is allergic to peanuts.")
check([h["event"] for h in client.history(first["id"])] == ["ADD", "UPDATE"], "the history is not ADD, UPDATE")
client.batch_update([{"memory_id": first["id"], "text": "Is allergic to all nuts."}])
check(client.get(first["id"])["memory"] == "Is allergic to all nuts.", "the batch changed nothing")
client.delete(first["id"])
check(not any("nuts" in m["memory"] for m in rows(client.search("nuts allergy", **owner(user)))), "a deleted memory is found")
try:
    client.get(first["id"])
    check(False, "a deleted memory can be read")
except Exception as e:  # each version has an error of its own
    check("not found" in str(e).lower(), f"the error is {e!r}")
check(user in [u["name"] for u in client.users()["results"]], "the user is not listed")
client.delete_all(user_id=user)
check(rows(client.get_all(**owner(user))) == [], "memories are left")
client.add(messages, user_id=user)
client.delete_users(user_id=user)
check(rows(client.get_all(**owner(user))) == [], "memories are left of the user")


async def asynchronous():
    client = AsyncMemoryClient(api_key="any", host=host)
    await client.add(messages, user_id=user)
    found = rows(await client.search("What can I eat?", **owner(user)))
    check(found and found[0]["score"] > 0.1, f"the async client finds {found}")
    await client.delete_all(user_id=user)


asyncio.run(asynchronous())
print(f"mem0ai {version} (PyPI): ok")
