using System.CommandLine;
using System.Globalization;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Clusters;

/// <summary>`rookery cluster token`: creates tokens that let new nodes join.</summary>
internal static class JoinTokenCommand
{
    private const int DefaultMinutes = 60;

    public static Command Create() => new("token", "Tokens that let new nodes join.") { CreateToken() };

    private static Command CreateToken()
    {
        var address = new NodeAddress();
        var minutes = WholeNumber.Option(
            "--minutes",
            $"How many minutes it is valid, at most a week [default: {DefaultMinutes}].",
            "MINUTES",
            least: 1,
            most: 7 * 24 * 60
        );
        var command = address.AddTo(new Command("create", "Print a token that lets one node join, once.") { minutes });
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var created = await client.SendAsync(
                            HttpMethod.Post,
                            "/admin/cluster/tokens",
                            json =>
                                json.WriteNumber(
                                    "LifetimeSeconds"u8,
                                    (parsed.GetValue(minutes) ?? DefaultMinutes) * 60L
                                )
                        );
                        if (address.IsJson(parsed))
                        {
                            await Console.Out.WriteLineAsync(created.GetRawText());
                            return ExitCode.Success;
                        }

                        // Only the token goes to stdout, so that a script can use it.
                        string until = created
                            .GetProperty("Expires")
                            .GetDateTimeOffset()
                            .UtcDateTime.ToString("u", CultureInfo.InvariantCulture);
                        await Console.Error.WriteLineAsync(
                            $"Until {until} this token lets one node join the cluster "
                                + $"{created.GetProperty("Cluster").GetString()}: run `rookery cluster join TOKEN "
                                + $"--data DIR` on the new node."
                        );
                        await Console.Out.WriteLineAsync(created.GetProperty("Token").GetString());
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }
}
