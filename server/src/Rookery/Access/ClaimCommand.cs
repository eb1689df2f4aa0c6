using System.CommandLine;
using Rookery.Hosting;
using Rookery.Platform;

namespace Rookery.Access;

/// <summary>`rookery claim`: claims a node that has no owner, and prints its first admin token.</summary>
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
            Description = "The token's name.",
            HelpName = "NAME",
            DefaultValueFactory = static _ => "admin",
        };
        var command = address.AddTo(
            new Command("claim", "Claim a node that has no owner, and print its first admin token.") { code, name }
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        string claimCode = parsed.GetValue(code) ?? ReadCode(address.Directory(parsed));
                        var created = await client.SendAsync(
                            HttpMethod.Post,
                            "/claim",
                            json =>
                            {
                                json.WriteString("Code"u8, claimCode);
                                json.WriteString("Name"u8, parsed.GetValue(name));
                            }
                        );
                        return TokenCommand.PrintCreated(created, address.IsJson(parsed));
                    }
                )
        );
        return command;
    }

    private static string ReadCode(string? directory)
    {
        if (directory is null)
        {
            throw new AdminException(
                "Pass the code that the node printed at its start by --code, or its data directory by --data.",
                ExitCode.Configuration
            );
        }

        var disk = new PosixDisk();
        if (LocalAccess.TryReadClaimCode(disk, directory) is { } code)
        {
            return code;
        }

        // The file is of the last start, so a node that got its certificates since has the address without TLS.
        throw LocalAccess.TryRead(disk, directory) is { Address.Scheme: "http" }
            ? new AdminException(
                $"There is no claim code in {directory}: its node was last started without TLS, and only one with TLS "
                    + $"can be claimed. Start it with `rookery serve --data {directory} --listen https://…`; after "
                    + $"`rookery cluster init` it prints the code then.",
                ExitCode.Failure
            )
            : new AdminException(
                $"There is no claim code in {directory}: its node has an owner, does not know yet whether it has "
                    + $"one (`rookery status` shows whether it reaches its cluster), or does not use TLS. "
                    + $"To replace a lost admin token, use `rookery token reset`.",
                ExitCode.Failure
            );
    }
}
