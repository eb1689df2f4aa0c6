using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Rookery.Data;
using Rookery.Hosting;

namespace Rookery.Access;

/// <summary>`rookery token`: creates, lists and revokes bearer tokens, and replaces a lost admin token.</summary>
internal static class TokenCommand
{
    private const string Path = "/admin/access/tokens";
    private const long SecondsPerDay = 86_400;

    public static Command Create() =>
        new("token", "Bearer tokens and their rights.")
        {
            CreateToken(),
            CreateList(),
            RevokeCommand.Create("token", Path),
            CreateReset(),
        };

    /// <summary>
    /// Prints a new token. Without <c>--json</c>, only the token goes to stdout, so that a script can save it.
    /// </summary>
    /// <exception cref="AdminException">The token could not be written, and is lost.</exception>
    public static int PrintCreated(JsonElement created, bool isJson)
    {
        string name = created.GetProperty("Name").GetString()!;
        if (!isJson)
        {
            PrintNotice(created);
            Console.Error.WriteLine($"The token '{name}' is not shown again:");
        }

        try
        {
            Console.Out.WriteLine(isJson ? created.GetRawText() : created.GetProperty("Token").GetString());
            return ExitCode.Success;
        }
        catch (IOException unwritable)
        {
            bool isAdmin = TextsOf(created.GetProperty("Scopes")).Contains("admin", StringComparer.Ordinal);
            string remedy = isAdmin
                ? $"`rookery token reset {name} --data DIR`, on the node's machine, replaces it"
                : $"`rookery token rm {name}` revokes it; then create another";
            throw new AdminException(
                $"{unwritable.Message} The token '{name}' exists, and nobody has it: {remedy}.",
                ExitCode.Failure
            );
        }
    }

    /// <summary>Prints the node's notice about a new credential, if there is one.</summary>
    public static void PrintNotice(JsonElement created)
    {
        if (created.TryGetProperty("Notice", out var notice))
        {
            Console.Error.WriteLine(notice.GetString());
        }
    }

    private static Command CreateToken()
    {
        var address = new NodeAddress();
        var name = new Argument<string>("NAME")
        {
            Description = "The token's name: lower-case letters, digits, hyphens.",
        };
        var scope = new Option<string>("--scope")
        {
            Description = "What it may do: read, write, admin (everything), metrics; several with commas.",
            HelpName = "SCOPES",
            Required = true,
        };
        var database = new Option<string[]>("--database")
        {
            Description =
                "A database to which the scopes read and write apply, no other; may be repeated [default: all].",
            HelpName = "NAME",
        }.Offering(address, static (names, _, _) => names.DatabasesAsync());
        var days = WholeNumber.Option(
            "--days",
            "How many days it is valid, at most a century [default: for ever].",
            "DAYS",
            least: 1,
            most: 36_500
        );
        var command = address.AddTo(
            new Command("create", "Make a token and print it.") { name, scope, database, days }
        );
        command.SetAction(
            (parsed, _) =>
            {
                string[] scopes = parsed
                    .GetValue(scope)!
                    .Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
                string[]? databases = parsed.GetValue(database) is { Length: > 0 } named ? named : null;
                if (databases is not null && DescribeUnlimited(scopes) is { } sentence)
                {
                    return Refusal.WriteAsync(sentence, ExitCode.Configuration);
                }

                return address.UseAsync(
                    parsed,
                    async client =>
                        PrintCreated(
                            await client.SendAsync(
                                HttpMethod.Post,
                                Path,
                                json =>
                                {
                                    json.WriteString("Name"u8, parsed.GetValue(name));
                                    WriteTexts(json, "Scopes", scopes);
                                    if (databases is not null)
                                    {
                                        WriteTexts(json, "Databases", databases);
                                    }

                                    if (parsed.GetValue(days) is { } lifetime)
                                    {
                                        json.WriteNumber("LifetimeSeconds"u8, lifetime * SecondsPerDay);
                                    }
                                }
                            ),
                            address.IsJson(parsed)
                        )
                );
            }
        );
        return command;
    }

    /// <summary>Returns why databases do not limit a token with these scopes; null if they limit some.</summary>
    internal static string? DescribeUnlimited(string[] scopes) =>
        scopes.Contains("admin", StringComparer.Ordinal)
            ? "--database does not limit the scope admin, which allows everything. Leave one of the two out."
        : scopes.Length > 0 && scopes.All(static scope => scope is "metrics")
            ? "--database does not limit the scope metrics, which shows figures of all databases. Leave --database out."
        : null;

    private static Command CreateList()
    {
        var address = new NodeAddress();
        var command = address.AddTo(
            new Command("ls", "List the tokens' names and rights; the tokens themselves are not stored.")
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                    {
                        var answer = await client.SendAsync(HttpMethod.Get, Path);
                        if (address.IsJson(parsed))
                        {
                            await Console.Out.WriteLineAsync(answer.GetRawText());
                            return ExitCode.Success;
                        }

                        foreach (var token in answer.GetProperty("Tokens").EnumerateArray())
                        {
                            string expiryText = token.GetProperty("Expires")
                                is { ValueKind: JsonValueKind.String } expiry
                                ? string.Create(
                                    CultureInfo.InvariantCulture,
                                    $", until {expiry.GetDateTimeOffset().UtcDateTime:u}"
                                )
                                : string.Empty;
                            await Console.Out.WriteLineAsync(
                                $"{token.GetProperty("Name").GetString()}: " + $"{DescribeRights(token)}{expiryText}"
                            );
                        }

                        return ExitCode.Success;
                    }
                )
        );
        return command;
    }

    private static Command CreateReset()
    {
        var address = new NodeAddress();
        var name = new Argument<string>("NAME")
        {
            Description = "The lost token's name.",
            DefaultValueFactory = static _ => "admin",
        };
        var command = address.AddTo(
            new Command(
                "reset",
                "Replace a lost admin token, as root on the node's machine with --data; the node logs the replacement."
            )
            {
                name,
            }
        );
        command.SetAction(
            (parsed, _) =>
                address.UseAsync(
                    parsed,
                    async client =>
                        PrintCreated(
                            await client.SendAsync(
                                HttpMethod.Post,
                                Path + "/reset",
                                json => json.WriteString("Name"u8, parsed.GetValue(name))
                            ),
                            address.IsJson(parsed)
                        )
                )
        );
        return command;
    }

    /// <summary>
    /// Returns the rights of a token as they apply. Databases limit read and write only: an earlier version stored
    /// them beside admin too, which allows everything.
    /// </summary>
    internal static string DescribeRights(JsonElement token)
    {
        string[] scopes = [.. TextsOf(token.GetProperty("Scopes"))];
        if (
            token.GetProperty("Databases") is not { ValueKind: JsonValueKind.Array } databases
            || scopes.Contains("admin", StringComparer.Ordinal)
        )
        {
            return string.Join(',', scopes);
        }

        string limited = string.Join(',', scopes.Where(static scope => scope is "read" or "write"));
        string[] parts =
        [
            .. scopes.Where(static scope => scope is not ("read" or "write")),
            .. limited.Length == 0 ? (string[])[] : [$"{limited} in {string.Join(',', TextsOf(databases))}"],
        ];
        return string.Join(", ", parts);
    }

    private static void WriteTexts(Utf8JsonWriter json, string name, string[] texts)
    {
        json.WriteStartArray(name);
        foreach (string text in texts)
        {
            json.WriteStringValue(text);
        }

        json.WriteEndArray();
    }

    private static IEnumerable<string> TextsOf(JsonElement texts) =>
        texts.EnumerateArray().Select(static text => text.GetString()!);
}
