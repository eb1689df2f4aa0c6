using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Disk;
using Rookery.Documents;
using Rookery.Documents.Json;
using Rookery.Indexing.Analysis;
using Rookery.Indexing.Language;
using Rookery.Indexing.Scanning;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Execution;

/// <summary>What an answer says of its results beside them: pieces of texts with the words that were found (<c>highlight</c>), and how each score came about (<c>explanations</c>). For one thread.</summary>
public sealed class QueryNotes : IDisposable
{
    // Objects, references and a place in a table, of one text.
    private const int BytesPerText = 160;

    private readonly ScanPlan plan;
    private readonly ScanMemory memory;
    private readonly ScanWork work;
    private readonly ScoreExplanation explanation;
    private readonly SearchableText room = new();
    private readonly IndexRows? rows;
    private readonly Dictionary<string, List<string>>[] pieces;
    private readonly Dictionary<string, string> explanations = new(StringComparer.Ordinal);

    /// <summary>Notes of one answer.</summary>
    /// <param name="plan">The query.</param>
    /// <param name="database">Whose documents the results are.</param>
    /// <param name="reader">Gives the moment of the answer.</param>
    /// <param name="share">What they take is drawn from here.</param>
    /// <param name="clock">Is asked as the work goes on.</param>
    public QueryNotes(
        ScanPlan plan, Database database, Func<DatabaseReader> reader, MemoryShare share, IScanClock clock)
    {
        this.plan = plan;
        memory = new ScanMemory(share);
        work = new ScanWork(clock);
        explanation = new ScoreExplanation(work);
        rows = plan.Rows is { IsReduced: false } source ? new IndexRows(source, database, reader) : null;
        pieces = [.. plan.Highlights.Select(static _ => new Dictionary<string, List<string>>(StringComparer.Ordinal))];
    }

    /// <summary>Takes a result.</summary>
    /// <param name="result">The document, or the reduced row.</param>
    /// <exception cref="QueryException">The memory of the query is used up.</exception>
    public void Add(in QueriedDocument result)
    {
        if (rows is null)
        {
            AddRow(result);
            return;
        }

        foreach (byte[] row in rows.Of(result))
        {
            var queried = result.WithRow(row);
            if (plan.Matches(queried, work))
            {
                AddRow(queried);
            }
        }
    }

    /// <summary>The members of the answer, each with a comma before it.</summary>
    public byte[] ToJson()
    {
        var output = new ArrayBufferWriter<byte>();
        if (pieces.Length > 0)
        {
            output.Write(",\"Highlightings\":"u8);
            using var json = new Utf8JsonWriter(output);
            json.WriteStartObject();
            for (int i = 0; i < pieces.Length; i++)
            {
                json.WriteStartObject(plan.Highlights[i].Field);
                foreach (var (key, texts) in pieces[i])
                {
                    Write(json, key, texts);
                }

                json.WriteEndObject();
            }

            json.WriteEndObject();
        }

        if (plan.Explains)
        {
            output.Write(",\"Explanations\":"u8);
            using var json = new Utf8JsonWriter(output);
            json.WriteStartObject();
            foreach (var (key, text) in explanations)
            {
                Write(json, key, [text]);
            }

            json.WriteEndObject();
        }

        return output.WrittenSpan.ToArray();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        rows?.Dispose();
        room.Release();
        work.Release();
        memory.Dispose();
    }

    private static void Write(Utf8JsonWriter json, string key, IEnumerable<string> texts)
    {
        json.WriteStartArray(key);
        foreach (string text in texts)
        {
            json.WriteStringValue(text);
        }

        json.WriteEndArray();
    }

    private void AddRow(in QueriedDocument result)
    {
        for (int i = 0; i < pieces.Length; i++)
        {
            var found = new List<string>();
            plan.Highlights[i].Cut(result, room, work, found);
            memory.Take(found.Sum(static text => BytesPerText + ((long)sizeof(char) * text.Length)));
            string key = KeyOf(result, plan.Highlights[i].GroupKey);
            if (!pieces[i].TryGetValue(key, out var known))
            {
                pieces[i].Add(key, found);
            }
            else
            {
                known.AddRange(found);
            }
        }

        if (plan.Explains)
        {
            string text = explanation.Of(plan.Where, result);
            memory.Take(BytesPerText + ((long)sizeof(char) * text.Length));
            explanations.TryAdd(KeyOf(result, plan.ExplanationKey), text);
        }
    }

    /// <summary>What names a result: its id, or the value of a field.</summary>
    private static string KeyOf(in QueriedDocument result, string? groupKey)
    {
        if (groupKey is null)
        {
            return Encoding.UTF8.GetString(result.View.Id);
        }

        var output = new ArrayBufferWriter<byte>();
        new FieldWriter(new FieldPath([new(groupKey, false)], 0)).Write(result, output);
        var json = output.WrittenSpan;
        if (json is not [(byte)'"', ..])
        {
            return Encoding.UTF8.GetString(json);
        }

        byte[] text = new byte[json.Length];
        return Encoding.UTF8.GetString(text, 0, JsonText.Unescape(json[1..^1], text));
    }
}
