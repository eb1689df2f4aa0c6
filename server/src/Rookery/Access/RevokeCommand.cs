using System.CommandLine;
using Rookery.Hosting;

namespace Rookery.Access;

/// <summary>The command `rm` of credentials.</summary>
internal static class RevokeCommand
{
    /// <summary>Creates the command.</summary>
    /// <param name="credential">What it revokes, such as `token`.</param>
    /// <param name="path">The path of the route.</param>
    public static Command Create(string credential, string path)
    {
        var address = new NodeAddress();
        var name = new Argument<string>("NAME") { Description = $"The {credential}'s name." };
        var command = address.AddTo(new Command("rm", $"Revoke a {credential}.") { name });
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        await client.SendAsync(
                            HttpMethod.Delete,
                            $"{path}?name={Uri.EscapeDataString(parsed.GetValue(name)!)}"
                        );
                        await Console.Error.WriteLineAsync($"Revoked the {credential} '{parsed.GetValue(name)}'.");
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }
}
