using System.CommandLine;
using Rookery.Access;

namespace Rookery.Clusters;

/// <summary>`rookery cluster clock`: the operator's word on what time it is.</summary>
internal static class ClockCommand
{
    public static Command Create() => new("clock", "The time that documents expire by.") { Confirm() };

    private static Command Confirm()
    {
        var address = new NodeAddress();
        var command = address.AddTo(new Command(
            "confirm", "Say that the voters' clocks are right, although they jumped and no majority is synchronised; see them with `rookery status`. What is past by them expires."));
        command.SetAction((parsed, _) => address.UseAsync(parsed, async client =>
        {
            var answer = await client.SendAsync(HttpMethod.Post, "/admin/cluster/clock/confirm");
            await Console.Out.WriteLineAsync(address.IsJson(parsed) ? answer.GetRawText() : answer.GetProperty("Message").GetString());
            return ExitCode.Success;
        }));
        return command;
    }
}
