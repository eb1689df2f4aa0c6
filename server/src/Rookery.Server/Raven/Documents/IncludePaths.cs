using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.Documents;

/// <summary>
/// Collects the ids that documents refer to, by RavenDB's include paths: <c>friend</c>, <c>a.b</c>,
/// <c>lines[].product</c>, <c>map.$Values</c>, <c>map.$Keys</c>. Each id is collected once, in order of appearance. All
/// paths are followed in one pass over a document.
/// </summary>
internal sealed class IncludePaths : IReferenceCollector, IDisposable
{
    /// <summary>Largest number of paths in one request: the same as the number of keys in an <c>order by</c>.</summary>
    public const int MaxPaths = 64;

    // Estimated overhead: two strings, a list slot and a hash table slot.
    private const int BytesPerId = 128;

    private const int MaxIdBytes = 512;

    // This many steps take about a millisecond.
    private const int StepsBetweenChecks = 1 << 16;

    private readonly Step _root = new();
    private readonly List<Place> _places = [];

    // Ids in lower case, as ids are compared. In upper case ς and σ would be equal.
    private readonly HashSet<string> _foundIds = new(StringComparer.Ordinal);
    private readonly MemoryShare _memory;
    private readonly Action _check;
    private long _heldBytes;
    private int _steps;

    /// <summary>Parses the paths.</summary>
    /// <param name="paths">The paths.</param>
    /// <param name="memory">Reserves the memory of the collected ids.</param>
    /// <param name="check">Called regularly while paths are followed; may throw to end the work. Many paths in a
    /// document with many members take long.</param>
    /// <exception cref="RefusedException">A path is empty or has an unsupported form, or there are too
    /// many.</exception>
    public IncludePaths(IReadOnlyCollection<string> paths, MemoryShare memory, Action check)
    {
        _memory = memory;
        _check = check;
        if (paths.Count > MaxPaths)
        {
            throw RefusedException.BadRequest(
                $"A request takes at most {MaxPaths} include paths; this one has {paths.Count}."
            );
        }

        foreach (string path in paths)
        {
            AddPath(path);
        }
    }

    /// <summary>Whether there are no paths.</summary>
    public bool IsEmpty => _root.IsLeaf;

    /// <summary>Bytes that are reserved for the ids.</summary>
    public long HeldBytes => _heldBytes;

    /// <summary>The ids to include, without those given to <see cref="Exclude"/>.</summary>
    public List<string> Ids { get; } = [];

    /// <summary>
    /// Returns the bytes of memory for writing a document and following its references. Following copies the document
    /// twice: once as stored and once as JSON.
    /// </summary>
    public long BytesFor(long documentBytes) => IsEmpty ? documentBytes : 3 * documentBytes;

    /// <summary>Excludes ids of documents that are among the results.</summary>
    public void Exclude(IEnumerable<string> results)
    {
        var excluded = results.Select(static id => id.ToLowerInvariant()).ToHashSet(StringComparer.Ordinal);
        Ids.RemoveAll(id => excluded.Contains(id.ToLowerInvariant()));
    }

    /// <summary>Adds the ids that a document refers to.</summary>
    public void Collect(in DocumentView document) => Collect(document.Body);

    /// <inheritdoc/>
    /// <exception cref="RefusedException">The ids need more memory than queries have: 400.</exception>
    public void Collect(ReadOnlySpan<byte> members)
    {
        if (IsEmpty)
        {
            return;
        }

        var memory = PooledMemory.Rent(members.Length + 2);
        try
        {
            var json = memory.Span[..(members.Length + 2)];
            json[0] = (byte)'{';
            members.CopyTo(json[1..]);
            json[^1] = (byte)'}';
            var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = 256 });
            reader.Read();
            _places.Clear();
            _places.Add(new Place(_root, IsInside: false));
            Follow(ref reader, from: 0);
        }
        finally
        {
            memory.Return();
        }
    }

    /// <summary>Adds the id of a result itself.</summary>
    /// <exception cref="RefusedException">The ids need more memory than queries have: 400.</exception>
    public void Include(ReadOnlySpan<byte> id)
    {
        if (!id.IsEmpty)
        {
            Add(Encoding.UTF8.GetString(id));
        }
    }

    /// <summary>Releases the memory of the ids.</summary>
    public void Dispose()
    {
        _memory.Release(_heldBytes);
        _heldBytes = 0;
    }

    // "lines[].product" → "lines", "[]", "product"
    private void AddPath(string path)
    {
        if (path.Length == 0)
        {
            throw RefusedException.BadRequest("An include path is empty.");
        }

        if (
            path.Contains('(', StringComparison.Ordinal)
            || path.Replace("[]", "", StringComparison.Ordinal).Contains('[', StringComparison.Ordinal)
        )
        {
            throw RefusedException.NotSupported(
                $"The include path '{path}' is not supported by this version: it must be members separated "
                    + $"by dots, with [] after arrays, and $Keys or $Values after objects."
            );
        }

        var step = _root;
        string[] names = path.Replace("[]", ".[]", StringComparison.Ordinal)
            .Split('.', StringSplitOptions.RemoveEmptyEntries);
        if (names.Length == 0)
        {
            throw RefusedException.BadRequest($"The include path '{path}' names no member.");
        }

        foreach (string name in names.Where(static name => name is not "$Keys"))
        {
            step = name is "[]" or "$Values" ? step.Each ??= new Step() : step.Of(Encoding.UTF8.GetBytes(name));
        }

        int keys = Array.IndexOf(names, "$Keys");
        if (keys >= 0 && keys < names.Length - 1)
        {
            throw RefusedException.BadRequest($"The include path '{path}' continues after '$Keys', which are strings.");
        }

        step.HasKeys |= keys >= 0;
        step.IsEnd |= keys < 0;
    }

    /// <summary>
    /// Follows the paths that reach the reader's current value, and moves the reader to that value's last token.
    /// </summary>
    /// <param name="reader">The reader, at the value's first token.</param>
    /// <param name="from">Index in <see cref="_places"/> of the first place at this value; the places to the end of the
    /// list belong to it.</param>
    private void Follow(ref Utf8JsonReader reader, int from)
    {
        int to = _places.Count;
        Count(1 + to - from);
        switch (reader.TokenType)
        {
            case JsonTokenType.StartArray:
                EnterArray(from, to);
                while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
                {
                    Follow(ref reader, to);
                }

                break;
            case JsonTokenType.StartObject:
                while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
                {
                    EnterMember(ref reader, from, to);
                    reader.Read();
                    FollowOrSkip(ref reader, to);
                }

                break;
            case JsonTokenType.String when IsAtEnd(from, to):
                Add(ref reader);
                break;
            default:
                break;
        }

        CollectionsMarshal.SetCount(_places, to);
    }

    private void FollowOrSkip(ref Utf8JsonReader reader, int from)
    {
        if (_places.Count > from)
        {
            Follow(ref reader, from);
            CollectionsMarshal.SetCount(_places, from);
        }
        else
        {
            reader.Skip();
        }
    }

    // A path without brackets passes through arrays; brackets match one array and no array nested in it.
    private void EnterArray(int from, int to)
    {
        for (int i = from; i < to; i++)
        {
            var (step, isInside) = _places[i];
            _places.Add(new Place(step, IsInside: true));
            if (!isInside && step.Each is { } each)
            {
                _places.Add(new Place(each, IsInside: false));
            }
        }
    }

    // For an object, brackets match each member.
    private void EnterMember(ref Utf8JsonReader reader, int from, int to)
    {
        for (int i = from; i < to; i++)
        {
            var (step, isInside) = _places[i];
            Count(1 + step.Members.Count);
            if (step.HasKeys)
            {
                Add(ref reader);
            }

            foreach (var (name, next) in step.Members)
            {
                if (reader.ValueTextEquals(name))
                {
                    _places.Add(new Place(next, IsInside: false));
                    break;
                }
            }

            if (!isInside && step.Each is { } each)
            {
                _places.Add(new Place(each, IsInside: false));
            }
        }
    }

    private void Count(int steps)
    {
        _steps += steps;
        if (_steps >= StepsBetweenChecks)
        {
            _steps = 0;
            _check();
        }
    }

    private bool IsAtEnd(int from, int to)
    {
        bool isAtEnd = false;
        for (int i = from; i < to && !isAtEnd; i++)
        {
            isAtEnd = _places[i].Step.IsEnd;
        }

        return isAtEnd;
    }

    private void Add(ref Utf8JsonReader reader)
    {
        if (
            reader.ValueSpan.Length > 6 * MaxIdBytes
            || reader.GetString() is not { Length: > 0 } id
            || Encoding.UTF8.GetByteCount(id) > MaxIdBytes
        )
        {
            return;
        }

        Add(id);
    }

    private void Add(string id)
    {
        string lower = id.ToLowerInvariant();
        if (_foundIds.Contains(lower))
        {
            return;
        }

        long bytes = BytesPerId + ((long)sizeof(char) * 2 * id.Length);
        if (!_memory.TryReserveFromCaches(bytes))
        {
            throw RefusedException.InvalidQuery(
                $"The {Ids.Count} documents and more that the results refer to need more memory than is free of "
                    + $"the {_memory.LimitBytes >> 20} MiB that queries may use: ask for fewer results at once, or "
                    + $"for less to include."
            );
        }

        _heldBytes += bytes;
        _foundIds.Add(lower);
        Ids.Add(id);
    }

    /// <summary>A node of the tree of paths.</summary>
    private sealed class Step
    {
        /// <summary>The members with which some path continues.</summary>
        public List<(byte[] Name, Step Next)> Members { get; } = [];

        /// <summary>The node after brackets; null if no path has brackets here.</summary>
        public Step? Each { get; set; }

        /// <summary>Whether the names of this object's members are ids.</summary>
        public bool HasKeys { get; set; }

        /// <summary>Whether a path ends at this node.</summary>
        public bool IsEnd { get; set; }

        public bool IsLeaf => Members.Count == 0 && Each is null && !HasKeys;

        /// <summary>Returns the node for a member, and adds it if necessary.</summary>
        public Step Of(byte[] name)
        {
            foreach (var (known, next) in Members)
            {
                if (known.AsSpan().SequenceEqual(name))
                {
                    return next;
                }
            }

            var added = new Step();
            Members.Add((name, added));
            return added;
        }
    }

    /// <summary>A node of the tree that was reached at one JSON value.</summary>
    /// <param name="Step">The node.</param>
    /// <param name="IsInside">Whether the value is inside an array that the path passed through, where brackets no
    /// longer match.</param>
    private readonly record struct Place(Step Step, bool IsInside);
}
