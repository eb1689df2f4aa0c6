using System.CommandLine;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Access;

/// <summary>`rookery claim`: takes a node that has no owner, and prints its first admin token.</summary>
internal static class ClaimCommand
{
    public static Command Create()
    {
        var address = new NodeAddress();
        var code = new Option<string?>("--code")
        {
            Description = "The code that the node printed at its start [default: read from the directory of --data].",
            HelpName = "CODE",
        };
        var name = new Option<string>("--name")
        {
            Description = "What to call the token.",
            HelpName = "NAME",
            DefaultValueFactory = static _ => "admin",
        };
        var command = address.AddTo(
            new Command("claim", "Take a node that has no owner: prints its first admin token.") { code, name }
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        string typed = parsed.GetValue(code) ?? Read(address.Directory(parsed));
                        var made = await client.SendAsync(
                            HttpMethod.Post,
                            "/claim",
                            json =>
                            {
                                json.WriteString("Code"u8, typed);
                                json.WriteString("Name"u8, parsed.GetValue(name));
                            }
                        );
                        return TokenCommand.PrintMade(made, address.IsJson(parsed));
                    }
                )
        );
        return command;
    }

    private static string Read(string? directory)
    {
        if (directory is null)
        {
            throw new AdminException(
                "Say the code that the node printed at its start with --code, or name its data directory with --data.",
                ExitCode.Configuration
            );
        }

        return LocalAccess.TryReadClaimCode(new PosixDisk(), directory)
            ?? throw new AdminException(
                $"There is no code in {directory}: its node has an owner, does not know yet whether it has "
                    + $"one (`rookery status` says whether it reaches its cluster), or is no node that speaks TLS. "
                    + $"A lost admin token is replaced with `rookery token reset`.",
                ExitCode.Failure
            );
    }
}
