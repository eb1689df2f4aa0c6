using System.Text.Json;
using Rookery.Access;
using Rookery.Data;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Transfer;

/// <summary>
/// `rookery export DB --to FILE.ravendbdump`: downloads a dump with all that a database has, in RavenDB's form.
/// </summary>
internal static class DumpDownload
{
    /// <summary>The end of a dump's file name.</summary>
    public const string Extension = ".ravendbdump";

    private static readonly TimeSpan PollInterval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan EndInterval = TimeSpan.FromMilliseconds(50);

    /// <summary>Writes the dump to a file that appears only when it is complete.</summary>
    /// <param name="client">The node.</param>
    /// <param name="database">The database.</param>
    /// <param name="to">The file.</param>
    /// <param name="replaces">Whether to replace an existing file.</param>
    /// <param name="time">The clock that measures the time limits.</param>
    public static async Task<int> RunAsync(
        NodeClient client,
        string database,
        string to,
        bool replaces,
        TimeProvider time
    )
    {
        string root = NodeClient.PathOf(database);
        var statistics = await client.GetJsonAsync(HttpMethod.Get, $"{root}/stats");
        long expected = statistics.GetProperty("CountOfDocuments").GetInt64();
        var next = await client.GetJsonAsync(HttpMethod.Get, $"{root}/operations/next-operation-id");
        string state = $"{root}/operations/state?id={next.GetProperty("Id").GetInt64()}";
        using var options = NodeClient.BodyOf(static _ => { });
        using var answer = await client.SendAsync(
            HttpMethod.Post,
            $"{root}/smuggler/export?operationId={next.GetProperty("Id").GetInt64()}",
            options
        );
        ForeignAnswer.RequireStream(answer, client.Address);
        using var progress = new Progress($"of about {Amount.Of(expected, "document")}", time);
        using var interruption = new Interruption(
            progress,
            () => ExportDownload.DescribePartial(to, progress.Items, expected)
        );
        using var ended = new CancellationTokenSource();
        long bytes = 0;
        var watching = WatchAsync(client, state, progress, () => Interlocked.Read(ref bytes), ended.Token);
        string path = Path.GetFullPath(to);
        JsonElement result;
        try
        {
            result = await ExportDownload.WriteFileAsync(
                path,
                replaces,
                async file =>
                {
                    await Streamed.CopyAsync(
                        answer,
                        client.Address,
                        file,
                        part => Interlocked.Add(ref bytes, part.Length),
                        time
                    );
                    return await ReadResultAsync(client, state);
                }
            );
        }
        finally
        {
            await ended.CancelAsync();
            await watching;
            progress.Clear();
        }

        return await PrintAsync(database, path, result);
    }

    private static async Task WatchAsync(
        NodeClient client,
        string state,
        Progress progress,
        Func<long> bytes,
        CancellationToken ended
    )
    {
        try
        {
            while (true)
            {
                await Task.Delay(PollInterval, ended);
                var now = await client.GetJsonAsync(HttpMethod.Get, state, cancellation: ended);
                if (now.ValueKind == JsonValueKind.Object && now.TryGetProperty("Progress", out var part))
                {
                    progress.Report(DumpUpload.StoredIn(part, "Documents"), bytes());
                }
            }
        }
        catch (Exception unknown) when (unknown is OperationCanceledException or AdminException)
        {
            // The export has ended, or the node does not answer: the download reports that.
        }
    }

    // The dump is whole only if the node says so.
    private static async Task<JsonElement> ReadResultAsync(NodeClient client, string state)
    {
        var last = await client.GetJsonAsync(HttpMethod.Get, state);
        while (last.ValueKind == JsonValueKind.Object && last.GetProperty("Status").ValueEquals("InProgress"u8))
        {
            await Task.Delay(EndInterval); // the operation ends just after its last byte was sent
            last = await client.GetJsonAsync(HttpMethod.Get, state);
        }

        return last.ValueKind == JsonValueKind.Object && last.GetProperty("Status").ValueEquals("Completed"u8)
            ? last.GetProperty("Result").Clone()
            : throw new AdminException(
                "The node does not confirm that the export is complete. Export again; if that fails too, check "
                    + "`rookery doctor` and the node's log.",
                ExitCode.Failure
            );
    }

    private static async Task<int> PrintAsync(string database, string path, JsonElement result)
    {
        string parts = DumpUpload.DescribeParts(result);
        await Console.Error.WriteLineAsync(
            $"{database}: {Amount.Of(DumpUpload.StoredIn(result, "Documents"), "document")}"
                + (parts.Length == 0 ? string.Empty : ", " + parts)
                + $" in {path}."
        );
        foreach (var message in result.GetProperty("Messages").EnumerateArray())
        {
            await Console.Error.WriteLineAsync(VisibleText.OfLine(message.GetString()!));
        }

        return DumpUpload.CountIn(result, "ErroredCount") == 0 ? ExitCode.Success : ExitCode.Failure;
    }
}
