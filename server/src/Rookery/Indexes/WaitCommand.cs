using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Indexes;

/// <summary>`rookery index wait`: until indexes have seen everything.</summary>
internal static class WaitCommand
{
    // The node hurries while somebody waits there.
    private const string AwaitedProgress = "/indexes/progress?wait=500";

    private const string Replacement = "ReplacementOf/";

    // Of a node that answers at once all the same.
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database();
        var name = IndexCommand.NameOrAll();
        var timeout = WholeNumber.Option(
            "--timeout",
            "Give up after so many seconds [default: never].",
            "SECONDS",
            least: 1,
            most: 1_000_000
        );
        var command = address.AddTo(
            new Command("wait", "Wait until an index, or all, has seen everything on the node that is asked.")
            {
                database,
                name,
                timeout,
            }
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
        TimeSpan? most,
        TimeProvider time
    )
    {
        if (name is not null)
        {
            // Refused when there is none of that name.
            await client.GetJsonAsync(HttpMethod.Get, IndexCommand.With($"{path}/indexes/staleness", name));
        }

        using var progress = new Progress("documents", time);
        using var interruption = new Interruption(
            progress,
            static () => "Nothing waits any more; the node goes on with its indexes."
        );
        long first = -1;
        for (long begun = time.GetTimestamp(); ; )
        {
            JsonElement[] behind =
            [
                .. (await client.GetJsonAsync(HttpMethod.Get, path + AwaitedProgress))
                    .GetProperty("Results")
                    .EnumerateArray()
                    .Where(index => IsNamed(index, name) && IsBehind(index)),
            ];
            if (behind.Length == 0)
            {
                return ExitCode.Success;
            }

            if (
                Array
                    .ConvertAll(behind, index => WhyStopped(index, client.Address))
                    .FirstOrDefault(static why => why is not null) is
                { } reason
            )
            {
                throw new AdminException(reason, ExitCode.Stopped);
            }

            string names = string.Join(", ", behind.Select(NameOf));
            if (most is { } patience && time.GetElapsedTime(begun) > patience)
            {
                throw new AdminException(
                    $"After {Amount.Time(patience)} there was not everything seen yet by {names}.",
                    ExitCode.Failure
                );
            }

            long left = behind.Sum(IndexCommand.LeftOf);
            first = Math.Max(first, left);
            progress.Report(first - left, 0);
            await Task.Delay(Pause, time);
        }
    }

    private static string NameOf(JsonElement index) => VisibleText.OfLine(index.GetProperty("Name").GetString()!);

    // What is built to take its place belongs to it: until it has, the old definition answers.
    private static bool IsNamed(JsonElement index, string? name) =>
        name is null
        || index.GetProperty("Name").ValueEquals(name)
        || index.GetProperty("Name").ValueEquals(Replacement + name);

    private static bool IsBehind(JsonElement index) =>
        index.GetProperty("IsStale").GetBoolean()
        || IsInError(index)
        || index.GetProperty("Name").GetString()!.StartsWith(Replacement, StringComparison.Ordinal);

    private static bool IsInError(JsonElement index) => index.GetProperty("State").ValueEquals("Error"u8);

    /// <summary>Why an index does not go on by itself, and what to do; null for one that does.</summary>
    private static string? WhyStopped(JsonElement index, Uri address) =>
        index.GetProperty("IndexRunningStatus").GetString() switch
        {
            _ when IsInError(index) =>
                $"{NameOf(index)} stopped on the node at {address}, because too many documents could not be "
                    + $"indexed: `rookery index errors` lists them. Correct its definition.",
            "Paused" => $"{NameOf(index)} is paused on the node at {address}, and will not go on by itself: `rookery "
                + $"index resume` lets it.",
            "Disabled" => $"{NameOf(index)} is disabled, and will not go on by itself: `rookery index enable` lets it.",
            _ => null,
        };
}
