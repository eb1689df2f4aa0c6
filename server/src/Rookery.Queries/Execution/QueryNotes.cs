using System.Buffers;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Execution;

/// <summary>
/// Highlights (text fragments with the found words marked) and explanations (how each score was computed), which an
/// answer returns in addition to its results. Not thread-safe.
/// </summary>
public sealed class QueryNotes : IDisposable
{
    // Estimate for one text: objects, references and a table entry.
    private const int BytesPerText = 160;

    private readonly CompiledQuery _compiled;
    private readonly ScanMemory _memory;
    private readonly ScanWork _work;
    private readonly ScoreExplanation _explanation;
    private readonly SearchableText _text = new();
    private readonly IndexRows? _rows;
    private readonly Dictionary<string, List<string>>[] _fragments;
    private readonly Dictionary<string, string> _explanations = new(StringComparer.Ordinal);

    /// <summary>Creates the notes of one answer.</summary>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="database">The queried database.</param>
    /// <param name="reader">Returns the answer's snapshot.</param>
    /// <param name="memory">The memory of the query.</param>
    /// <param name="limits">Checked during the work; throws to end it.</param>
    public QueryNotes(
        CompiledQuery compiled,
        Database database,
        Func<DatabaseReader> reader,
        QueryMemory memory,
        IWorkLimits limits
    )
    {
        _compiled = compiled;
        _memory = new ScanMemory(memory);
        _work = new ScanWork(limits);
        _explanation = new ScoreExplanation(_work);
        _rows = compiled.Rows is { IsReduced: false } source ? new IndexRows(source, database, reader) : null;
        _fragments =
        [
            .. compiled.Highlights.Select(static _ => new Dictionary<string, List<string>>(StringComparer.Ordinal)),
        ];
    }

    /// <summary>Adds the notes of a result.</summary>
    /// <param name="result">The document, or the reduced row.</param>
    /// <exception cref="QueryException">The query exceeds its memory.</exception>
    public void Add(in QueriedDocument result)
    {
        if (_rows is null)
        {
            AddRow(result);
            return;
        }

        foreach (byte[] row in _rows.Of(result))
        {
            var queried = result.WithRow(row);
            if (_compiled.Matches(queried, _work))
            {
                AddRow(queried);
            }
        }
    }

    /// <summary>Returns the notes as JSON members, each preceded by a comma.</summary>
    public byte[] ToJson()
    {
        var output = new ArrayBufferWriter<byte>();
        if (_fragments.Length > 0)
        {
            output.Write(",\"Highlightings\":"u8);
            using var json = new Utf8JsonWriter(output);
            json.WriteStartObject();
            for (int i = 0; i < _fragments.Length; i++)
            {
                json.WriteStartObject(_compiled.Highlights[i].Field);
                foreach (var (key, texts) in _fragments[i])
                {
                    Write(json, key, texts);
                }

                json.WriteEndObject();
            }

            json.WriteEndObject();
        }

        if (_compiled.Explains)
        {
            output.Write(",\"Explanations\":"u8);
            using var json = new Utf8JsonWriter(output);
            json.WriteStartObject();
            foreach (var (key, text) in _explanations)
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
        _rows?.Dispose();
        _text.Release();
        _work.Release();
        _memory.Dispose();
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
        for (int i = 0; i < _fragments.Length; i++)
        {
            var fragments = new List<string>();
            _compiled.Highlights[i].FindFragments(result, _text, _work, fragments);
            _memory.Reserve(fragments.Sum(static text => BytesPerText + ((long)sizeof(char) * text.Length)));
            string key = ResultName(result, _compiled.Highlights[i].GroupKey);
            if (!_fragments[i].TryGetValue(key, out var texts))
            {
                _fragments[i].Add(key, fragments);
            }
            else
            {
                texts.AddRange(fragments);
            }
        }

        if (_compiled.Explains)
        {
            string text = _explanation.Of(_compiled.Where, result);
            _memory.Reserve(BytesPerText + ((long)sizeof(char) * text.Length));
            _explanations.TryAdd(ResultName(result, _compiled.ExplanationKey), text);
        }
    }

    /// <summary>Returns the name of a result: its id, or the value of a field.</summary>
    private static string ResultName(in QueriedDocument result, string? groupKey)
    {
        if (groupKey is null)
        {
            return Encoding.UTF8.GetString(result.View.Id);
        }

        var output = new ArrayBufferWriter<byte>();
        new FieldWriter(new FieldPath([new(groupKey, IsEach: false)], Position: 0)).Write(result, output);
        var json = output.WrittenSpan;
        if (json is not [(byte)'"', ..])
        {
            return Encoding.UTF8.GetString(json);
        }

        byte[] text = new byte[json.Length];
        return Encoding.UTF8.GetString(text, 0, JsonText.Unescape(json[1..^1], text));
    }
}
