using System.CommandLine;
using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Terminal;

namespace Rookery.Indexes;

/// <summary>`rookery index wait`: until indexes have seen everything.</summary>
internal static class WaitCommand
{
    // The node hurries while somebody waits there.
    private const string AwaitedProgress = "/indexes/progress?wait=500";

    // Of a node that answers at once all the same.
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    public static Command Create()
    {
        var address = new NodeAddress();
        var database = DocumentArguments.Database();
        var name = IndexCommand.NameOrAll();
        var timeout = WholeNumber.Option("--timeout", "Give up after so many seconds [default: never].", "SECONDS", least: 1, most: 1_000_000);
        var command = address.AddTo(new Command("wait", "Wait until an index, or all, has seen everything on the node that is asked.") { database, name, timeout });
        command.SetAction((parsed, _) => address.WorkAsync(parsed, client =>
            WaitAsync(client, NodeClient.PathOf(address.DatabaseOf(parsed.GetValue(database)!)), parsed.GetValue(name), parsed.GetValue(timeout) is { } seconds ? TimeSpan.FromSeconds(seconds) : null, TimeProvider.System)));
        return command;
    }

    private static async Task<int> WaitAsync(NodeClient client, string path, string? name, TimeSpan? most, TimeProvider time)
    {
        if (name is not null)
        {
            // Refused when there is none of that name.
            await client.GetJsonAsync(HttpMethod.Get, IndexCommand.With($"{path}/indexes/staleness", name));
        }

        using var progress = new Progress("documents", time);
        long first = -1;
        for (long begun = time.GetTimestamp(); ;)
        {
            JsonElement[] behind = [.. (await client.GetJsonAsync(HttpMethod.Get, path + AwaitedProgress)).GetProperty("Results").EnumerateArray()
                .Where(index => (name is null || index.GetProperty("Name").ValueEquals(name)) && index.GetProperty("IsStale").GetBoolean())];
            if (behind.Length == 0)
            {
                return ExitCode.Success;
            }

            string names = string.Join(", ", behind.Select(static index => Paint.Plain(index.GetProperty("Name").GetString()!)));
            if (Array.Find(behind, static index => index.GetProperty("IndexRunningStatus").GetString() is "Paused" or "Disabled") is { ValueKind: JsonValueKind.Object } stopped)
            {
                string index = Paint.Plain(stopped.GetProperty("Name").GetString()!);
                throw new AdminException(
                    stopped.GetProperty("IndexRunningStatus").ValueEquals("Paused"u8)
                        ? $"{index} is paused on the node at {client.Address}, and will not go on by itself: `rookery index resume` lets it."
                        : $"{index} is disabled, and will not go on by itself: `rookery index enable` lets it.",
                    ExitCode.Stopped);
            }

            if (most is { } patience && time.GetElapsedTime(begun) > patience)
            {
                throw new AdminException($"After {Amount.Time(patience)} there was not everything seen yet by {names}.", ExitCode.Failure);
            }

            long left = behind.Sum(IndexCommand.LeftOf);
            first = Math.Max(first, left);
            progress.Report(first - left, 0);
            await Task.Delay(Pause, time);
        }
    }
}
