using System.CommandLine;
using System.Net;
using Rookery.Hosting;
using Rookery.Terminal;

namespace Rookery.Access;

/// <summary>
/// `rookery login` and `rookery logout`: saves and deletes the cluster's addresses and the user's token, which other
/// commands then use by default.
/// </summary>
internal static class LoginCommand
{
    public static Command Create()
    {
        var urls = new Argument<string[]>("URL")
        {
            Description = "Addresses of the cluster's nodes; the first that answers is asked.",
            Arity = ArgumentArity.OneOrMore,
        };
        var tokenFile = new Option<string?>("--token-file")
        {
            Description = "File with the token; - reads it from stdin [default: asked for, over https].",
            HelpName = "FILE",
        };
        var authority = new Option<string?>("--ca")
        {
            Description = "PEM file with the cluster's authority [default: those that the system trusts].",
            HelpName = "FILE",
        };
        var database = new Option<string?>("--database")
        {
            Description = "The database that `.` stands for in other commands.",
            HelpName = "NAME",
        };
        var command = new Command("login", "Save the cluster's addresses and your token for all other commands.")
        {
            urls,
            tokenFile,
            authority,
            database,
        };
        command.SetAction(
            (parsed, _) =>
                Refusal.GuardAsync(() =>
                    LoginAsync(
                        parsed.GetValue(urls)!,
                        parsed.GetValue(tokenFile),
                        parsed.GetValue(authority),
                        parsed.GetValue(database)
                    )
                )
        );
        return command;
    }

    public static Command CreateLogout()
    {
        var command = new Command(
            "logout",
            "Delete what `rookery login` saved. The token stays valid: `rookery token rm` revokes it."
        );
        command.SetAction(_ =>
        {
            if (UserSettings.FileName is { } path && File.Exists(path))
            {
                File.Delete(path);
                Console.Error.WriteLine($"Deleted {path}.");
            }
            else
            {
                Console.Error.WriteLine("There is nothing to delete: `rookery login` saved nothing.");
            }

            return ExitCode.Success;
        });
        return command;
    }

    private static async Task<int> LoginAsync(string[] urls, string? tokenFile, string? authority, string? database)
    {
        urls = [.. urls.Select(NodeAddress.Complete)];
        string? problem = urls.Select(static url => NodeAddress.ProblemOf(url, "https://rookery.local:8443"))
            .FirstOrDefault(static problem => problem is not null);
        if (problem is not null)
        {
            return await Refusal.WriteAsync(problem, ExitCode.Configuration);
        }

        Uri[] addresses = [.. urls.Select(static url => new Uri(url))];
        bool isSecure = Array.Exists(addresses, static address => address.Scheme is "https");
        string? token = await ReadTokenAsync(tokenFile, isSecure);
        bool isMalformed =
            token is not null && (token.Length == 0 || token.AsSpan().ContainsAnyExceptInRange('!', '~'));
        if (isMalformed)
        {
            return await Refusal.WriteAsync(
                "That is not a token: a token is a single line of letters, digits and signs, as `rookery token "
                    + "create` prints it.",
                ExitCode.Configuration
            );
        }

        if (
            token is not null
            && Array.Find(addresses, static address => address.Scheme is "http" && !address.IsLoopback) is { } open
        )
        {
            return await Refusal.WriteAsync(
                $"A token is not sent to {open} over plain HTTP, where others on the network can read it. "
                    + $"Use an https address.",
                ExitCode.Configuration
            );
        }

        string? pem = authority is null ? null : Path.GetFullPath(authority);
        var authorities = pem is null ? null : NodeAddress.ReadPem(NodeAddress.ReadFile(pem), pem);
        var node = await NodeChoice.FirstThatAnswersAsync([
            .. addresses.Select(address => new NodeConnection(address, token, authorities)),
        ]);
        await ProveAsync(node);
        string path = new UserSettings(urls, token, pem, database).Write();
        await Console.Error.WriteLineAsync($"{node.Address} accepted it. Saved in {path}, which only you can read.");
        return ExitCode.Success;
    }

    private static async Task<string?> ReadTokenAsync(string? tokenFile, bool isSecure)
    {
        if (tokenFile is "-")
        {
            return (await Console.In.ReadToEndAsync()).Trim();
        }

        if (tokenFile is not null)
        {
            return NodeAddress.ReadFile(tokenFile).Trim();
        }

        if (!isSecure)
        {
            return null;
        }

        return Tty.CanAsk
            ? Question.ReadSecret("Token (it is not shown): ").Trim()
            : throw new AdminException(
                "There is no terminal to ask for the token. Name a file with --token-file, or pipe it to "
                    + "--token-file -.",
                ExitCode.Configuration
            );
    }

    /// <summary>
    /// Throws if the node rejects the token. A refusal for lack of rights is accepted: a token for metrics only may not
    /// list databases.
    /// </summary>
    private static async Task ProveAsync(NodeConnection node)
    {
        using var client = new NodeClient(node);
        using var request = client.NewRequest(HttpMethod.Get, "/databases");
        using var answer = await client.AskAsync(request);
        if (!answer.Headers.Contains(ForeignAnswer.VersionHeader))
        {
            throw new AdminException(
                $"The server at {node.Address} is not Rookery. Nothing was saved.",
                ExitCode.Failure
            );
        }

        if (!answer.IsSuccessStatusCode && answer.StatusCode != HttpStatusCode.Forbidden)
        {
            throw await client.RefusalOfAsync(answer);
        }
    }
}
