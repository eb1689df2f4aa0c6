using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Clusters;
using Rookery.Hosting;
using Rookery.Server.Operations;

namespace Rookery;

/// <summary>`rookery status`: shows whether a node serves, its role in the cluster, and what is wrong.</summary>
internal static class StatusCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command(
                "status",
                "Show the status of a running node: whether it is ready, the leader, and how far members are behind. "
                    + "Ends with 1 if the node does not serve, cannot write or does not know the time."
            )
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var status = await client.SendAsync(HttpMethod.Get, "/readyz?verbose", acceptsUnready: true);
                        await Console.Out.WriteLineAsync(
                            address.IsJson(parsed)
                                ? status.GetRawText()
                                : string.Join(
                                    '\n',
                                    [.. StatusWords.Describe(status), .. await DescribeUnreachedAsync(client, status)]
                                )
                        );
                        return StatusWords.IsWell(status) ? ExitCode.Success : ExitCode.Failure;
                    }
                )
        );
        return command;
    }

    /// <summary>
    /// Describes at which addresses the node looks for members that it does not reach. Needs --data or an admin token,
    /// because other tokens may not see addresses.
    /// </summary>
    private static async Task<IEnumerable<string>> DescribeUnreachedAsync(AdminClient client, JsonElement status)
    {
        if (StatusWords.IsSelfContained(status))
        {
            return [];
        }

        try
        {
            var listing = await client.SendAsync(HttpMethod.Get, "/admin/cluster/nodes");
            return MemberTable.Unreached(listing);
        }
        catch (AdminException)
        {
            return
            [
                "With --data on its machine, or with an admin's token, this command also shows where the "
                    + "node looks for the members that it does not reach.",
            ];
        }
    }
}
