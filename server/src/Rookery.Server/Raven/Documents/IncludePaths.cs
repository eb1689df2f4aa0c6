using System.Text;
using System.Text.Json;
using Rookery.Disk;
using Rookery.Documents.Json;

namespace Rookery.Server.Raven.Documents;

/// <summary>
/// Collects the ids that documents refer to, by RavenDB's include paths: <c>friend</c>, <c>a.b</c>, <c>lines[].product</c>. Each id is given once, in the order met.
/// </summary>
internal sealed class IncludePaths
{
    private readonly string[][] _paths;
    private readonly HashSet<string> _seen = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Reads the paths.</summary>
    /// <exception cref="RefusedException">A path is empty or in a form we do not have.</exception>
    public IncludePaths(IReadOnlyCollection<string> paths)
    {
        _paths = paths.Count == 0 ? [] : [.. paths.Select(Split)];
    }

    public bool IsEmpty => _paths.Length == 0;

    /// <summary>The ids to include, without those given to <see cref="Exclude"/>.</summary>
    public List<string> Ids { get; } = [];

    /// <summary>What writing a document and following its references takes: it is put together for that, and once more as JSON.</summary>
    public long BytesFor(long documentBytes) => IsEmpty ? documentBytes : 3 * documentBytes;

    /// <summary>Keeps ids out of the includes, because they are among the results.</summary>
    public void Exclude(IEnumerable<string> results)
    {
        var excluded = new HashSet<string>(results, _seen.Comparer);
        Ids.RemoveAll(excluded.Contains);
    }

    /// <summary>Adds the ids that a document refers to.</summary>
    public void Collect(in DocumentView document) => Collect(document.Body);

    /// <summary>Adds the ids that a row refers to.</summary>
    /// <param name="body">Its members, without braces.</param>
    public void Collect(ReadOnlySpan<byte> body)
    {
        if (IsEmpty)
        {
            return;
        }

        var memory = PooledMemory.Rent(body.Length + 2);
        var json = memory.Span[..(body.Length + 2)];
        json[0] = (byte)'{';
        body.CopyTo(json[1..]);
        json[^1] = (byte)'}';
        foreach (string[] path in _paths)
        {
            var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = 256 });
            reader.Read();
            Follow(ref reader, path);
        }

        memory.Return();
    }

    // "lines[].product" → "lines", "[]", "product"
    private static string[] Split(string path)
    {
        if (path.Length == 0)
        {
            throw RefusedException.BadRequest("An include path is empty.");
        }

        if (path.Contains('(', StringComparison.Ordinal))
        {
            throw RefusedException.NotSupported($"The include path '{path}' is not supported by this version: it must be members separated by dots, with [] behind arrays.");
        }

        return path.Replace("[]", ".[]", StringComparison.Ordinal).Split('.', StringSplitOptions.RemoveEmptyEntries);
    }

    /// <summary>Follows the rest of a path from the value that the reader stands on, and leaves the reader on that value's last token.</summary>
    private void Follow(ref Utf8JsonReader reader, ReadOnlySpan<string> path)
    {
        if (reader.TokenType == JsonTokenType.StartArray)
        {
            var inside = path is ["[]", ..] ? path[1..] : path;
            while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
            {
                Follow(ref reader, inside);
            }
        }
        else if (path.IsEmpty)
        {
            Add(ref reader);
            reader.Skip();
        }
        else if (reader.TokenType == JsonTokenType.StartObject)
        {
            while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
            {
                bool isOnPath = path[0] is "[]" || reader.ValueTextEquals(path[0]);
                reader.Read();
                if (isOnPath)
                {
                    Follow(ref reader, path[1..]);
                }
                else
                {
                    reader.Skip();
                }
            }
        }
    }

    private void Add(ref Utf8JsonReader reader)
    {
        if (reader.TokenType == JsonTokenType.String && reader.GetString() is { Length: > 0 } id && Encoding.UTF8.GetByteCount(id) <= 512 && _seen.Add(id))
        {
            Ids.Add(id);
        }
    }
}
