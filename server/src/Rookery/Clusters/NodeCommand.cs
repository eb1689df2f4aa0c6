using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Clusters;

/// <summary>
/// `rookery cluster node`: the members shown and changed, through whichever member the command finds.
/// </summary>
internal static class NodeCommand
{
    private const string Path = "/admin/cluster/nodes";

    // The card of a member holds the authority's key, sealed for a key that lies beside it.
    private const string OfItsCard =
        "Its old card is refused from now on. Keep it until you are sure that nothing is missing; before it is "
        + "used again, its data directory has to be emptied. If somebody else may have its card: it can act as "
        + "any member until the authority is another, with `rookery cluster ca rotate`, then `… retire`.";

    public static Command Create() =>
        new("node", "The members of the cluster: shown, promoted, removed, and who leads.")
        {
            List(),
            Change("promote", "Let a member vote that receives everything already."),
            Change("demote", "Take a member's vote; it goes on to receive everything."),
            Remove("rm", "Remove a member for good. Nothing is ever removed by itself.", isReplaced: false),
            Remove(
                "replace",
                "Remove a member whose card or machine is gone, and print a token that lets another one join "
                    + "in its place.",
                isReplaced: true
            ),
            Transfer(),
        };

    private static Command List()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command("ls", "List the members, how far each is behind, and what the cluster bears.")
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

    private static Command Change(string name, string description)
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

    private static Command Transfer()
    {
        var address = new NodeAddress();
        var member = new Argument<string?>("NAME")
        {
            Description = "Who shall lead [default: the best of the other voters].",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = address.AddTo(new Command("transfer", "Hand leadership to another voter.") { member });
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

    private static Command Remove(string name, string description, bool isReplaced)
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
                            await Console.Error.WriteLineAsync(OfItsCard);
                            return ExitCode.Success;
                        }

                        await Console.Error.WriteLineAsync(removed.GetProperty("Message").GetString());
                        await Console.Error.WriteLineAsync(OfItsCard);
                        var token = await MakeTokenAsync(client, node);
                        await Console.Error.WriteLineAsync(
                            $"Within an hour, on the new machine: `rookery cluster join TOKEN --data DIR "
                                + $"--name {node}`, with an empty DIR and this token. Started, it receives all "
                                + $"data first, and then votes by itself if a vote is free:"
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
                $"{node} was removed, and there is no token yet for who takes its place: {refused.Message} "
                    + $"Make one with `rookery cluster token create` later.",
                refused.Code
            );
        }
    }

    private static Argument<string> Member() => new("NAME") { Description = "The member's name, letter or id." };

    private static async Task PrintAsync(JsonElement answer, bool isJson) =>
        await Console.Out.WriteLineAsync(isJson ? answer.GetRawText() : answer.GetProperty("Message").GetString());

    /// <summary>Says what the cluster bears then, and asks.</summary>
    private static async Task<bool> ConfirmAsync(AdminClient client, string node)
    {
        var cluster = await client.SendAsync(HttpMethod.Get, Path);
        if (cluster.GetProperty("Leader").ValueKind != JsonValueKind.String)
        {
            throw new AdminException(
                "Nobody leads now, or it is not known here who does, so no member can be removed, and nothing "
                    + "was changed. `rookery status` says who is missing: start enough of them that a majority is "
                    + "there; when a majority is gone for good, use `rookery cluster recover`.",
                ExitCode.Failure
            );
        }

        JsonElement[] members = [.. cluster.GetProperty("Members").EnumerateArray()];
        JsonElement[] voters = [.. members.Where(static member => !IsLearner(member))];
        JsonElement[] left =
        [
            .. voters.Where(member =>
                !member.GetProperty("Name").ValueEquals(node)
                && !member.GetProperty("Tag").ValueEquals(node)
                && !member.GetProperty("NodeId").ValueEquals(node)
            ),
        ];
        if (voters.Length == 1 && left.Length == 0)
        {
            // Not left to the node that is asked: another may vote by then, and the owner was not told what he loses.
            string other =
                members
                    .Where(IsLearner)
                    .Select(static member => member.GetProperty("Name").GetString())
                    .FirstOrDefault()
                ?? "NAME";
            throw new AdminException(
                $"{node} is the only voter: without it nothing could be written, so nothing was removed. Let "
                    + $"another vote first, with `rookery cluster node promote {other}`.",
                ExitCode.Failure
            );
        }

        await Console.Error.WriteLineAsync(
            $"Now {Bears(voters)}; without {node} {Bears(left)}. Its data directory cannot come back: it has "
                + $"to join anew, empty."
        );
        if (Console.IsInputRedirected)
        {
            throw new AdminException(
                "Nobody can be asked here, so nothing was removed; say --yes.",
                ExitCode.Configuration
            );
        }

        await Console.Error.WriteAsync($"Remove {node}? [y/N] ");
        return await Console.In.ReadLineAsync() is "y" or "Y" or "yes";
    }

    private static bool IsLearner(JsonElement member) => member.GetProperty("Role").ValueEquals("learner");

    /// <summary>How many vote, and how many more of them may go off.</summary>
    private static string Bears(JsonElement[] voters)
    {
        int off = voters.Count(static member =>
            member.TryGetProperty("IsReachable", out var isReachable) && !isReachable.GetBoolean()
        );
        int more = ((voters.Length - 1) / 2) - off;
        string vote = string.Create(
            CultureInfo.InvariantCulture,
            $"{voters.Length} {(voters.Length == 1 ? "votes" : "vote")}"
        );
        string number = more == 0 ? "none" : more.ToString(CultureInfo.InvariantCulture);
        return off == 0
            ? $"{vote}, and writes go on with {number} {(voters.Length > 2 ? "of them " : string.Empty)}off"
            : string.Create(
                CultureInfo.InvariantCulture,
                $"{vote}, of which {off} {(off == 1 ? "is" : "are")} off, and "
                    + $"{(more < 0 ? "nothing is written" : $"writes go on with {number} more off")}"
            );
    }
}
