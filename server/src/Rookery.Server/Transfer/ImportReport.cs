using System.Text.Json;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Consensus;
using Rookery.Server.Raven;

namespace Rookery.Server.Transfer;

/// <summary>Writes the answer to an import, line by line.</summary>
internal sealed class ImportReport(HttpContext http, TimeProvider time, NdjsonImport import)
{
    /// <summary>
    /// Number of bad lines that are listed; further ones are only counted. Some clients send the whole body before they
    /// read the answer. The answer must then fit into the socket's buffers, or both sides would wait forever.
    /// </summary>
    private const int MaxListedBadLines = 100;

    private const string ContentType = "application/x-ndjson; charset=utf-8";
    private static readonly TimeSpan ProgressPeriod = TimeSpan.FromSeconds(1);
    private readonly List<(long Line, string Reason)> _badLines = [];
    private long _progressAt = time.GetTimestamp();
    private int _listed;

    public void AddBadLine(long line, string reason)
    {
        if (_listed < MaxListedBadLines)
        {
            _listed++;
            _badLines.Add((line, reason));
        }
    }

    public async Task ReportProgressAsync()
    {
        if (time.GetElapsedTime(_progressAt) < ProgressPeriod)
        {
            return;
        }

        _progressAt = time.GetTimestamp();
        using var answer = ResponseBuffer.Rent();
        WriteBadLines(answer);
        WriteCounts(answer, "Progress");
        await answer.SendPartAsync(http, pause: null, ContentType);
    }

    /// <summary>Writes the result, or why the import ended early.</summary>
    /// <param name="refusal">Why a line was refused before it was read; null if none was.</param>
    public async Task EndAsync(RefusedException? refusal)
    {
        if (import.Rejection is { } rejected && !http.Response.HasStarted)
        {
            var rejection = Explain(rejected);
            string message = $"{rejection.Message} {import.Stored} documents of the import were stored before.";
            await (
                refusal is not null
                    ? RavenErrors.WriteAsync(http, new RefusedException(refusal.Status, refusal.Type, message))
                    : RavenErrors.WriteAsync(http, rejection with { Message = message }, import.MayBeRepeated)
            );
            return;
        }

        using var answer = ResponseBuffer.Rent();
        WriteBadLines(answer);
        WriteCounts(answer, "Result");
        await answer.SendPartAsync(http, pause: null, ContentType);
    }

    // Names the line after which to continue: if there were bad lines, the number of stored documents does not show it.
    private Rejection Explain(Rejection rejection)
    {
        var explained = RavenErrors.Explain(http, rejection);
        if (
            import is not { IsWriteRefused: true, StoredLine: > 0 and var line }
            || rejection.Kind == RejectionKind.DatabaseMissing
        )
        {
            return explained;
        }

        // After an unknown outcome, lines without an id could be stored twice if they were sent again.
        bool mayBeSentAgain = rejection.Kind != RejectionKind.OutcomeUnknown || import.MayBeRepeated;
        string advice = mayBeSentAgain ? ": send the lines after it again." : ".";
        return explained with { Message = $"{explained.Message} All lines through {line} are stored{advice}" };
    }

    private void WriteBadLines(ResponseBuffer answer)
    {
        foreach (var (line, reason) in _badLines)
        {
            using (var json = new Utf8JsonWriter(answer))
            {
                json.WriteStartObject();
                json.WriteNumber("BadLine"u8, line);
                json.WriteString("Reason"u8, reason);
                json.WriteEndObject();
            }

            answer.Write("\n"u8);
        }

        _badLines.Clear();
    }

    private void WriteCounts(ResponseBuffer answer, string name)
    {
        using (var json = new Utf8JsonWriter(answer))
        {
            json.WriteStartObject();
            json.WriteStartObject(name);
            json.WriteNumber("Lines"u8, import.Line);
            json.WriteNumber("Stored"u8, import.Stored);
            json.WriteNumber("Bad"u8, import.Bad);
            if (import.WithoutCounters > 0)
            {
                json.WriteNumber("WithoutCounters"u8, import.WithoutCounters);
            }

            if (import.WithoutAttachments > 0)
            {
                json.WriteNumber("WithoutAttachments"u8, import.WithoutAttachments);
            }

            if (import.Rejection is { } rejection)
            {
                json.WriteString("Error"u8, Explain(rejection).Message);
            }

            json.WriteEndObject();
            json.WriteEndObject();
        }

        answer.Write("\n"u8);
    }
}
