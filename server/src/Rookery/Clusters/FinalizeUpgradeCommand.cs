using System.CommandLine;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Clusters;

/// <summary>
/// `rookery cluster finalize-upgrade`: the last step of an upgrade, after which the program of before cannot be put
/// back.
/// </summary>
internal static class FinalizeUpgradeCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command(
                "finalize-upgrade",
                "End an upgrade: let all members write what only their newer program reads. Until then the "
                    + "program of before can be put back; afterwards it cannot."
            )
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.SendAsync(HttpMethod.Post, "/admin/cluster/finalize-upgrade");
                        await Console.Out.WriteLineAsync(
                            address.IsJson(parsed) ? answer.GetRawText() : answer.GetProperty("Message").GetString()
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }
}
