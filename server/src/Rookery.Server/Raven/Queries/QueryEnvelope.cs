using System.Buffers.Text;
using System.Text;
using System.Text.Json;
using Rookery.Json;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// Writes the response to a query in parts that follow each other: <see cref="Begin"/>, <see cref="WriteResult"/> for
/// each result, <see cref="BeginIncludes"/>, the included documents, <see cref="EndIncludes"/>, members with included
/// values, and <see cref="End"/>.
/// </summary>
internal static class QueryEnvelope
{
    // Characters of long.MinValue.
    private const int MaxNumberLength = 20;

    public static void Begin(ResponseBuffer output) => output.Write("{\"Results\":["u8);

    /// <summary>Writes the current result, and adds its notes.</summary>
    public static void WriteResult(ResponseBuffer output, QueryAnswer answer, bool isFirst)
    {
        output.Write(isFirst ? ""u8 : ","u8);
        answer.Results.Write(output);
        answer.AddNotes();
    }

    public static void BeginIncludes(ResponseBuffer output) => output.Write("],\"Includes\":{"u8);

    public static void EndIncludes(ResponseBuffer output) => output.Write("}"u8);

    /// <summary>Writes the members after the included documents and values.</summary>
    /// <param name="output">Receives the response.</param>
    /// <param name="answer">The answer.</param>
    /// <param name="total">Total number of results, on this page or not.</param>
    /// <param name="durationMilliseconds">How long the query took.</param>
    /// <param name="context">State that all routes share.</param>
    /// <param name="timings">The timings as JSON; null if the query does not ask for them.</param>
    public static void End(
        ResponseBuffer output,
        QueryAnswer answer,
        long total,
        long durationMilliseconds,
        ServerContext context,
        string? timings = null
    )
    {
        long now = context.Time.GetUtcNow().UtcTicks;
        output.Write(",\"TotalResults\":"u8);
        WriteNumber(output, total);
        output.Write(",\"LongTotalResults\":"u8);
        WriteNumber(output, total);
        output.Write(",\"SkippedResults\":"u8);
        WriteNumber(output, answer.Results.SkippedCount);
        output.Write(",\"DurationInMs\":"u8);
        WriteNumber(output, durationMilliseconds);
        output.Write(",\"IndexName\":\""u8);
        output.Write(JsonEncodedText.Encode(answer.IndexName).EncodedUtf8Bytes);
        output.Write("\",\"IndexTimestamp\":\""u8);
        WriteDate(output, answer.Timestamp?.UtcTicks ?? now);
        output.Write("\",\"LastQueryTime\":\""u8);
        WriteDate(output, now);
        output.Write(
            answer.IsStale ? "\",\"IsStale\":true,\"ResultEtag\":"u8 : "\",\"IsStale\":false,\"ResultEtag\":"u8
        );
        WriteNumber(output, answer.ResultEtag);
        output.Write(",\"NodeTag\":\""u8);
        output.Write(Encoding.UTF8.GetBytes(context.Node.Consensus.NodeTag));
        output.Write("\",\"IncludedPaths\":"u8);
        WriteIncludedPaths(output, answer.Plan.Includes);
        if (answer.Results.FilteredCount is { } filtered)
        {
            output.Write(",\"ScannedResults\":"u8);
            WriteNumber(output, filtered);
        }

        output.Write(answer.IsScan ? ",\"IsScan\":true"u8 : default);
        if (timings is not null)
        {
            output.Write(Encoding.UTF8.GetBytes(",\"Timings\":" + timings));
        }

        output.Write(answer.NotesToJson());
        output.Write("}"u8);
    }

    private static void WriteIncludedPaths(ResponseBuffer output, IReadOnlyList<string> paths)
    {
        if (paths.Count == 0)
        {
            output.Write("null"u8);
            return;
        }

        var quoted = paths.Select(static path => $"\"{JsonEncodedText.Encode(path)}\"");
        output.Write(Encoding.UTF8.GetBytes($"[{string.Join(',', quoted)}]"));
    }

    private static void WriteNumber(ResponseBuffer output, long number)
    {
        Utf8Formatter.TryFormat(number, output.GetSpan(MaxNumberLength), out int written);
        output.Advance(written);
    }

    private static void WriteDate(ResponseBuffer output, long utcTicks)
    {
        WireDate.Write(output.GetSpan(WireDate.Length), utcTicks);
        output.Advance(WireDate.Length);
    }
}
