using System.Net;
using System.Text.Json;
using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;
using Rookery.Platform;
using Rookery.Terminal;

namespace Rookery.Transfer;

/// <summary>
/// `rookery import` of a dump: sends it to the node, which reads and stores all of its parts, and shows how far the
/// node has come.
/// </summary>
/// <param name="client">The node.</param>
/// <param name="database">The database.</param>
/// <param name="input">The dump.</param>
/// <param name="progress">Shows the progress.</param>
internal sealed class DumpUpload(NodeClient client, string database, ImportInput input, Progress progress)
{
    private const string Repeat =
        "Import the whole dump again: what is stored already is replaced, and nothing is stored twice.";

    private static readonly TimeSpan PollInterval = TimeSpan.FromSeconds(1);

    // A dump of a large card takes hours. A node that hangs is noticed after two minutes in any case.
    private static readonly TimeSpan LongestImport = TimeSpan.FromDays(7);

    // Result's members that count something beside the documents.
    private static readonly (string Member, string Singular, string Plural)[] Counted =
    [
        ("Counters", "counter", "counters"),
        ("RevisionDocuments", "revision", "revisions"),
        ("CompareExchange", "compare-exchange value", "compare-exchange values"),
        ("Identities", "identity", "identities"),
        ("Indexes", "index", "indexes"),
        ("Subscriptions", "subscription", "subscriptions"),
    ];

    private readonly string _path = NodeClient.PathOf(database);
    private long _documents;

    /// <summary>Imports the dump, and prints what was stored and what was not.</summary>
    /// <param name="isJson">Whether to print the node's answer.</param>
    /// <returns>The exit code.</returns>
    /// <exception cref="AdminException">The node does not answer, or refused the dump; the message says how many
    /// documents are stored.</exception>
    public async Task<int> RunAsync(bool isJson)
    {
        var next = await client.GetJsonAsync(HttpMethod.Get, $"{_path}/operations/next-operation-id");
        long operation = next.GetProperty("Id").GetInt64();
        using var interruption = new Interruption(progress, () => $"{DescribeStored()} {Repeat}");
        using var ended = new CancellationTokenSource();
        var watching = WatchAsync(operation, ended.Token);
        JsonElement result;
        try
        {
            result = await SendAsync(operation);
        }
        finally
        {
            await ended.CancelAsync();
            await watching;
            progress.Clear();
        }

        interruption.Dispose();
        if (isJson)
        {
            Output.Write(result);
        }
        else
        {
            Print(result);
        }

        return CountIn(result, "ErroredCount") == 0 ? ExitCode.Success : ExitCode.BadInput;
    }

    private async Task<JsonElement> SendAsync(long operation)
    {
        using var content = new DumpContent(input.Stream);
        using var request = client.NewRequest(
            HttpMethod.Post,
            $"{_path}/smuggler/import?operationId={operation}",
            content
        );
        try
        {
            using var answer = await client.AskAsync(request, LongestImport);
            if (answer.IsSuccessStatusCode)
            {
                return await client.ReadJsonAsync(answer);
            }

            var refusal = await client.RefusalOfAsync(answer);
            throw answer.StatusCode == HttpStatusCode.BadRequest
                ? new AdminException(refusal.Message, ExitCode.BadInput)
                : refusal;
        }
        catch (AdminException) when (content.Failure is { } damaged)
        {
            await ReadProgressAsync(operation, CancellationToken.None);
            throw new AdminException(
                $"The decompressed input cannot be read after byte {content.Sent}: "
                    + $"{BadInputException.ReasonOf(damaged)} {DescribeStored()} Get the whole dump, and import it.",
                ExitCode.BadInput
            );
        }
        catch (AdminException failure) when (content.Sent > 0)
        {
            await ReadProgressAsync(operation, CancellationToken.None);
            throw new AdminException($"{failure.Message} {DescribeStored()} {Repeat}", failure.Code);
        }
    }

    private string DescribeStored() =>
        $"At least {Amount.Of(Interlocked.Read(ref _documents), "document")} {VerbFor(_documents)} stored before that.";

    private static string VerbFor(long count) => count == 1 ? "was" : "were";

    private async Task WatchAsync(long operation, CancellationToken ended)
    {
        try
        {
            while (true)
            {
                await Task.Delay(PollInterval, ended);
                await ReadProgressAsync(operation, ended);
            }
        }
        catch (OperationCanceledException)
        {
            // The import has ended.
        }
    }

    private async Task ReadProgressAsync(long operation, CancellationToken cancellation)
    {
        try
        {
            var state = await client.GetJsonAsync(
                HttpMethod.Get,
                $"{_path}/operations/state?id={operation}",
                cancellation: cancellation
            );
            if (state.ValueKind == JsonValueKind.Object && state.TryGetProperty("Progress", out var part))
            {
                Interlocked.Exchange(ref _documents, StoredIn(part, "Documents"));
                progress.Report(_documents, input.CompressedBytesRead);
            }
        }
        catch (AdminException)
        {
            // Another node has no such operation, and an unreachable one is reported by the import itself.
        }
    }

    /// <summary>Returns the number of items of a type that a result counts as done.</summary>
    /// <param name="result">The result or progress of an operation.</param>
    /// <param name="member">Its member.</param>
    public static long StoredIn(JsonElement result, string member) =>
        result.ValueKind == JsonValueKind.Object && result.TryGetProperty(member, out var count)
            ? count.GetProperty("ReadCount").GetInt64()
                - count.GetProperty("ErroredCount").GetInt64()
                - count.GetProperty("SkippedCount").GetInt64()
            : 0;

    /// <summary>Sums a number over all parts of a result.</summary>
    public static long CountIn(JsonElement result, string name) =>
        result
            .EnumerateObject()
            .Where(static part => part.Value.ValueKind == JsonValueKind.Object)
            .Sum(part =>
                (part.Value.TryGetProperty(name, out var count) ? count.GetInt64() : 0)
                + (
                    part.Value.TryGetProperty("Attachments", out var attachments)
                        ? attachments.GetProperty(name).GetInt64()
                        : 0
                )
            );

    /// <summary>Lists what a result counts beside the documents; empty for nothing.</summary>
    public static string DescribeParts(JsonElement result)
    {
        var parts = new List<string>();
        if (StoredIn(result.GetProperty("Documents"), "Attachments") is > 0 and var attachments)
        {
            parts.Add(Amount.Of(attachments, "attachment"));
        }

        foreach (var (member, singular, plural) in Counted)
        {
            if (StoredIn(result, member) is > 0 and var count)
            {
                parts.Add(Amount.Of(count, singular, plural));
            }
        }

        return string.Join(", ", parts);
    }

    private static void Print(JsonElement result)
    {
        long documents = StoredIn(result, "Documents");
        long bad = result.GetProperty("Documents").GetProperty("ErroredCount").GetInt64();
        string rest = bad == 0 ? string.Empty : $", {Amount.Number(bad)} {VerbFor(bad)} not";
        Console.Error.WriteLine($"{Amount.Of(documents, "document")} {VerbFor(documents)} stored{rest}.");
        if (DescribeParts(result) is { Length: > 0 } parts)
        {
            Console.Error.WriteLine($"Stored too: {parts}.");
        }

        if (CountIn(result, "SkippedCount") is > 0 and var skipped)
        {
            Console.Error.WriteLine(
                $"Skipped: {Amount.Of(skipped, "revision")} whose documents have a revision of the same time or a "
                    + "newer one."
            );
        }

        foreach (var kind in result.GetProperty("LeftOut").EnumerateObject())
        {
            Console.Error.WriteLine(
                $"Left out: {Amount.Number(kind.Value.GetInt64())} × {VisibleText.OfLine(kind.Name)}."
            );
        }

        foreach (var message in result.GetProperty("Messages").EnumerateArray())
        {
            string text = message.GetString()!;
            if (!text.StartsWith("Left out", StringComparison.Ordinal))
            {
                Console.Error.WriteLine(VisibleText.OfLine(text));
            }
        }
    }

    /// <summary>Sends the decompressed dump, and keeps the error that its file has.</summary>
    private sealed class DumpContent(Stream dump) : HttpContent
    {
        private const int PartBytes = 64 << 10;

        public Exception? Failure { get; private set; }

        public long Sent { get; private set; }

        protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
        {
            byte[] part = new byte[PartBytes];
            while (Read(part) is > 0 and var read)
            {
                await stream.WriteAsync(part.AsMemory(0, read));
                Sent += read;
            }
        }

        protected override bool TryComputeLength(out long length)
        {
            length = 0;
            return false;
        }

        private int Read(byte[] part)
        {
            try
            {
                return dump.Read(part);
            }
            catch (Exception damaged) when (damaged is InvalidDataException or IOException)
            {
                Failure = damaged;
                throw new IOException(damaged.Message, damaged); // which ends the request like a broken connection
            }
        }
    }
}
