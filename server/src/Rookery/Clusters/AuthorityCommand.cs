using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;

namespace Rookery.Clusters;

/// <summary>
/// `rookery cluster ca`: shows the cluster's certificate authority and replaces it while the cluster works.
/// </summary>
internal static class AuthorityCommand
{
    private const string Path = "/admin/cluster/authority";

    public static Command Create() =>
        new("ca", "The cluster's certificate authority.")
        {
            MakeCommand(
                "show",
                "Show the authorities that members trust, and how far a rotation has come.",
                HttpMethod.Get,
                Path
            ),
            MakeCommand(
                "rotate",
                "Begin to replace the authority. The cluster goes on working, and the old authority stays trusted "
                    + "until it is retired.",
                HttpMethod.Post,
                Path + "/rotate"
            ),
            MakeCommand(
                "retire",
                "End the trust in the old authority, once every member has a certificate of the new one. Client "
                    + "certificates of the old authority become invalid.",
                HttpMethod.Post,
                Path + "/retire"
            ),
        };

    private static Command MakeCommand(string name, string description, HttpMethod method, string path)
    {
        var address = new NodeAddress();
        var command = address.AddTo(new Command(name, description));
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.SendAsync(method, path);
                        await Console.Out.WriteLineAsync(
                            address.IsJson(parsed) ? answer.GetRawText() : Describe(answer)
                        );
                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static string Describe(JsonElement answer)
    {
        IEnumerable<string> lines = answer
            .GetProperty("Authorities")
            .EnumerateArray()
            .Select(
                static (authority, position) =>
                {
                    string use = position == 0 ? "signs  " : "trusted";
                    string? fingerprint = authority.GetProperty("Sha256").GetString();
                    return $"{use} {fingerprint} {authority.GetProperty("Subject").GetString()}";
                }
            );
        if (!answer.TryGetProperty("Rotation", out var stage))
        {
            return string.Join('\n', lines);
        }

        string[] waitsFor =
        [
            .. answer.GetProperty("WaitsFor").EnumerateArray().Select(static name => name.GetString()!),
        ];
        string next = stage.GetString() switch
        {
            "Trusting" => "Members are adding the new authority to those they trust.",
            "Signing" when waitsFor.Length == 0 =>
                "Members use certificates of the new authority with each other. Let clients trust it, create their "
                    + "certificates again, then run `rookery cluster ca retire`.",
            "Signing" => "Members are getting certificates of the new authority.",
            _ => "Members are removing the old authority.",
        };
        return string.Join(
            '\n',
            [.. lines, waitsFor.Length == 0 ? next : $"{next} Waiting for {string.Join(", ", waitsFor)}."]
        );
    }
}
