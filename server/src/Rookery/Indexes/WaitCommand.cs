using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Documents.Ids;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Indexes;

/// <summary>`rookery index wait`: waits until indexes are up to date.</summary>
internal static class WaitCommand
{
    // The parameter `wait` makes the node build the awaited indexes first.
    private const string AwaitedProgress = "/indexes/progress?wait=500";

    private const string Replacement = "ReplacementOf/";

    // The pause between requests, for a node that does not support the parameter `wait`.
    private static readonly TimeSpan PollInterval = TimeSpan.FromMilliseconds(200);

    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database(address);
        var name = IndexCommand.NameOrAll(address, database);
        var timeout = WholeNumber.Option(
            "--timeout",
            "Give up after so many seconds [default: never].",
            "SECONDS",
            least: 1,
            most: 1_000_000
        );
        var command = address.AddTo(
            new Command("wait", "Wait until an index, or all, is up to date on this node.") { database, name, timeout }
        );
        command.SetAction(
            (parsed, _) =>
                address.WorkAsync(
                    parsed,
                    client =>
                        WaitAsync(
                            client,
                            NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!)),
                            parsed.GetValue(name),
                            parsed.GetValue(timeout) is { } seconds ? TimeSpan.FromSeconds(seconds) : null,
                            TimeProvider.System
                        )
                )
        );
        return command;
    }

    private static async Task<int> WaitAsync(
        NodeClient client,
        string path,
        string? name,
        TimeSpan? limit,
        TimeProvider time
    )
    {
        if (name is not null)
        {
            // Throws if there is no index of that name.
            await client.GetJsonAsync(HttpMethod.Get, IndexCommand.PathWithName($"{path}/indexes/staleness", name));
        }

        using var progress = new Progress("documents", time);
        using var interruption = new Interruption(
            progress,
            static () => "The wait has ended; the node goes on building its indexes."
        );
        long leftAtStart = -1;
        long startedAt = time.GetTimestamp();
        while (true)
        {
            JsonElement[] awaited =
            [
                .. (await client.GetJsonAsync(HttpMethod.Get, path + AwaitedProgress))
                    .GetProperty("Results")
                    .EnumerateArray()
                    .Where(index => IsNamed(index, name)),
            ];
            if (name is not null && awaited.Length == 0)
            {
                throw new AdminException(
                    $"There is no index '{VisibleText.OfLine(name)}' any more. It was deleted during the wait.",
                    ExitCode.NotFound
                );
            }

            JsonElement[] behind = [.. awaited.Where(IsBehind)];
            if (behind.Length == 0)
            {
                return ExitCode.Success;
            }

            string? reason = behind
                .Select(index => WhyStopped(index, client.Address))
                .FirstOrDefault(static why => why is not null);
            if (reason is not null)
            {
                throw new AdminException(reason, ExitCode.Stopped);
            }

            string names = string.Join(", ", behind.Select(NameOf));
            if (limit is { } timeout && time.GetElapsedTime(startedAt) > timeout)
            {
                throw new AdminException(
                    $"After {Amount.Time(timeout)} these indexes are not up to date: {names}.",
                    ExitCode.Failure
                );
            }

            long remaining = behind.Sum(IndexCommand.LeftOf);
            leftAtStart = Math.Max(leftAtStart, remaining);
            progress.Report(leftAtStart - remaining, bytes: 0);
            await Task.Delay(PollInterval, time);
        }
    }

    private static string NameOf(JsonElement index) => VisibleText.OfLine(index.GetProperty("Name").GetString()!);

    // Whether an index is the named one or its replacement. Queries use the old definition until the replacement is
    // complete.
    private static bool IsNamed(JsonElement index, string? name) =>
        name is null
        || IgnoredCase.OfNames.Equals(index.GetProperty("Name").GetString(), name)
        || IgnoredCase.OfNames.Equals(index.GetProperty("Name").GetString(), Replacement + name);

    private static bool IsBehind(JsonElement index) =>
        index.GetProperty("IsStale").GetBoolean()
        || IsInError(index)
        || index.GetProperty("Name").GetString()!.StartsWith(Replacement, StringComparison.Ordinal);

    private static bool IsInError(JsonElement index) => index.GetProperty("State").ValueEquals("Error"u8);

    /// <summary>Returns why an index does not continue by itself, and the remedy; null if it continues.</summary>
    private static string? WhyStopped(JsonElement index, Uri address) =>
        index.GetProperty("IndexRunningStatus").GetString() switch
        {
            _ when IsInError(index) =>
                $"{NameOf(index)} stopped on the node at {address}, because too many documents could not be "
                    + $"indexed: `rookery index errors` lists them. Correct its definition.",
            "Paused" => $"{NameOf(index)} is paused on the node at {address}. Resume it with `rookery index resume`.",
            "Disabled" => $"{NameOf(index)} is disabled. Enable it with `rookery index enable`.",
            _ => null,
        };
}
