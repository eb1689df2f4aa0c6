using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Clusters;
using Rookery.Hosting;
using Rookery.Server.Operations;

namespace Rookery;

/// <summary>
/// `rookery status`: whether a node serves, how it stands in its cluster, and why not if it does not.
/// </summary>
internal static class StatusCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command(
                "status",
                "Say how a running node does: ready or why not, who leads, and how far members are behind. "
                    + "Ends with 1 when it is not well."
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
    /// Where members are looked for is for whoever may know of addresses: with --data, or an admin's token.
    /// </summary>
    private static async Task<IEnumerable<string>> DescribeUnreachedAsync(AdminClient client, JsonElement status)
    {
        if (StatusWords.IsWholeStory(status))
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
            return ["With --data on its machine, or with an admin's token, it says too where it looks for the others."];
        }
    }
}
