using System.CommandLine;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Clusters;

/// <summary>
/// `rookery cluster finalize-upgrade`: the last step of an upgrade. After it the data cannot be opened by the previous
/// version.
/// </summary>
internal static class FinalizeUpgradeCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command(
                "finalize-upgrade",
                "End an upgrade: lets all members write data formats that only the new version reads. Until then the "
                    + "previous version can be installed again; afterwards it cannot."
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
