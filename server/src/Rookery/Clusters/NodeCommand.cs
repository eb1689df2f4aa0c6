using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Clusters;

/// <summary>`rookery cluster node`: shows and changes the members, through any member.</summary>
internal static class NodeCommand
{
    private const string Path = "/admin/cluster/nodes";

    // A member's card contains the authority's private key, encrypted with a key on the same card.
    private const string AdviceOnOldCard =
        "The cluster refuses its old card from now on. Keep the card until you are sure that no data are missing, "
        + "and empty its data directory before you use it again. If someone else may have the card, they can act as "
        + "any member until you replace the authority: `rookery cluster ca rotate`, then `… retire`.";

    public static Command Create() =>
        new("node", "Show and change the members of the cluster.")
        {
            CreateList(),
            CreateChange("promote", "Let a learner vote."),
            CreateChange("demote", "Make a voter a learner, which receives all data but does not vote."),
            CreateRemove(
                "rm",
                "Remove a member permanently. Members are never removed automatically.",
                isReplaced: false
            ),
            CreateRemove(
                "replace",
                "Remove a member whose card or machine is gone, and print a join token for its replacement.",
                isReplaced: true
            ),
            CreateTransfer(),
        };

    private static Command CreateList()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command("ls", "List the members, how far each is behind, and how many of them may be off.")
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.SendAsync(HttpMethod.Get, Path);
                        await Console.Out.WriteLineAsync(
                            address.IsJson(parsed) ? answer.GetRawText() : MemberTable.Of(answer)
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static Command CreateChange(string name, string description)
    {
        var address = new NodeAddress();
        var member = Member();
        var command = address.AddTo(new Command(name, description) { member });
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        await PrintAsync(
                            await client.SendAsync(
                                HttpMethod.Post,
                                $"{Path}/{name}?name={Uri.EscapeDataString(parsed.GetValue(member)!)}"
                            ),
                            address.IsJson(parsed)
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static Command CreateTransfer()
    {
        var address = new NodeAddress();
        var member = new Argument<string?>("NAME")
        {
            Description = "The new leader [default: the most suitable of the other voters].",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = address.AddTo(new Command("transfer", "Transfer leadership to another voter.") { member });
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        await PrintAsync(
                            await client.SendAsync(
                                HttpMethod.Post,
                                $"{Path}/transfer?name={Uri.EscapeDataString(parsed.GetValue(member) ?? string.Empty)}"
                            ),
                            address.IsJson(parsed)
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static Command CreateRemove(string name, string description, bool isReplaced)
    {
        var address = new NodeAddress();
        var member = Member();
        var yes = new Option<bool>("--yes") { Description = "Do not ask." };
        var command = address.AddTo(new Command(name, description) { member, yes });
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        string node = parsed.GetValue(member)!;
                        if (!parsed.GetValue(yes) && !await ConfirmAsync(client, node))
                        {
                            return ExitCode.Failure;
                        }

                        var removed = await client.SendAsync(
                            HttpMethod.Delete,
                            $"{Path}?name={Uri.EscapeDataString(node)}"
                        );
                        if (!isReplaced)
                        {
                            await PrintAsync(removed, address.IsJson(parsed));
                            await Console.Error.WriteLineAsync(AdviceOnOldCard);
                            return ExitCode.Success;
                        }

                        await Console.Error.WriteLineAsync(removed.GetProperty("Message").GetString());
                        await Console.Error.WriteLineAsync(AdviceOnOldCard);
                        var token = await MakeTokenAsync(client, node);
                        await Console.Error.WriteLineAsync(
                            $"Within an hour, run on the new machine `rookery cluster join TOKEN --data DIR "
                                + $"--name {node}`, with an empty DIR and the token below. Once started, the node "
                                + $"first receives all data, and then votes if a voter is missing:"
                        );
                        await Console.Out.WriteLineAsync(
                            address.IsJson(parsed) ? token.GetRawText() : token.GetProperty("Token").GetString()
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static async Task<JsonElement> MakeTokenAsync(AdminClient client, string node)
    {
        try
        {
            return await client.SendAsync(HttpMethod.Post, "/admin/cluster/tokens");
        }
        catch (AdminException refused)
        {
            throw new AdminException(
                $"{node} was removed, but the join token for its replacement could not be created: {refused.Message} "
                    + $"Create one later with `rookery cluster token create`.",
                refused.Code
            );
        }
    }

    private static Argument<string> Member() => new("NAME") { Description = "The member's name, letter or id." };

    private static async Task PrintAsync(JsonElement answer, bool isJson) =>
        await Console.Out.WriteLineAsync(isJson ? answer.GetRawText() : answer.GetProperty("Message").GetString());

    /// <summary>Shows how many members may fail after the removal, and asks for confirmation.</summary>
    private static async Task<bool> ConfirmAsync(AdminClient client, string node)
    {
        var cluster = await client.SendAsync(HttpMethod.Get, Path);
        if (cluster.GetProperty("Leader").ValueKind != JsonValueKind.String)
        {
            throw new AdminException(
                "No leader is known here, so no member can be removed, and nothing was changed. `rookery status` "
                    + "shows which members are missing: start enough of them for a majority. If a majority is "
                    + "lost for good, use `rookery cluster recover`.",
                ExitCode.Failure
            );
        }

        JsonElement[] members = [.. cluster.GetProperty("Members").EnumerateArray()];
        JsonElement[] voters = [.. members.Where(static member => !IsLearner(member))];
        JsonElement[] remaining =
        [
            .. voters.Where(member =>
                !member.GetProperty("Name").ValueEquals(node)
                && !member.GetProperty("Tag").ValueEquals(node)
                && !member.GetProperty("NodeId").ValueEquals(node)
            ),
        ];
        if (voters.Length == 1 && remaining.Length == 0)
        {
            // Refused here, not by the node: until the node checks, another member may become a voter, and the user
            // would not have seen the consequences.
            string candidate =
                members
                    .Where(IsLearner)
                    .Select(static member => member.GetProperty("Name").GetString())
                    .FirstOrDefault()
                ?? "NAME";
            throw new AdminException(
                $"{node} is the only voter: without it nothing could be written, so it was not removed. Let "
                    + $"another member vote first: `rookery cluster node promote {candidate}`.",
                ExitCode.Failure
            );
        }

        await Console.Error.WriteLineAsync(
            $"Now {DescribeTolerance(voters)}; without {node} {DescribeTolerance(remaining)}. The data directory of "
                + $"{node} cannot be used again: the machine must join again with an empty one."
        );
        if (Console.IsInputRedirected)
        {
            throw new AdminException(
                "There is no terminal to ask for confirmation, so nothing was removed. Pass --yes.",
                ExitCode.Configuration
            );
        }

        await Console.Error.WriteAsync($"Remove {node}? [y/N] ");
        if (await Console.In.ReadLineAsync() is "y" or "Y" or "yes")
        {
            return true;
        }

        await Console.Error.WriteLineAsync($"{node} was not removed.");
        return false;
    }

    private static bool IsLearner(JsonElement member) => member.GetProperty("Role").ValueEquals("learner");

    /// <summary>Describes how many members vote, and how many of them may fail before writes stop.</summary>
    private static string DescribeTolerance(JsonElement[] voters)
    {
        int off = voters.Count(static member =>
            member.TryGetProperty("IsReachable", out var isReachable) && !isReachable.GetBoolean()
        );
        int more = ((voters.Length - 1) / 2) - off;
        string vote = voters.Length == 1 ? "1 member votes" : $"{Amount.Number(voters.Length)} members vote";
        if (off > 0)
        {
            string consequence = more switch
            {
                < 0 => "nothing is written",
                0 => "no other one may be off",
                _ => $"{Amount.Number(more)} more may be off",
            };
            return $"{vote}, {Amount.Number(off)} of them {(off == 1 ? "is" : "are")} off, and {consequence}";
        }

        return voters.Length switch
        {
            1 => $"{vote} and must be on",
            2 => $"{vote}, and both must be on",
            _ => $"{vote}, and {Amount.Number(more)} of them may be off",
        };
    }
}
