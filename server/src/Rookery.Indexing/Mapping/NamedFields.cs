using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Rookery.Platform;
using Rookery.Search.Segments.Store;

namespace Rookery.Indexing.Mapping;

/// <summary>
/// The fields of an index that documents name, by <c>createField</c>. A field gets its number when a document first
/// names it, so the number may differ between members. The numbers are stored before the entries that use them. The
/// indexing thread adds names; any thread reads.
/// </summary>
/// <param name="definedFields">Number of searchable fields that the definition names.</param>
public sealed class NamedFields(int definedFields)
{
    /// <summary>Maximum fields that documents of one index may name.</summary>
    public const int MaxNames = 1024;

    /// <summary>Maximum length of a name in UTF-8, in bytes.</summary>
    public const int MaxNameBytes = 512;

    private readonly ConcurrentDictionary<string, Named> _fields = new(StringComparer.Ordinal);
    private int _version;

    /// <summary>Changes whenever a field is added or a field is used in a new way.</summary>
    public int Version => Volatile.Read(ref _version);

    /// <summary>
    /// Returns the position of a field; for a name that no document has used, the position of a field without entries.
    /// </summary>
    public int PositionOf(string name) =>
        _fields.TryGetValue(name, out var field) ? definedFields + 1 + field.Number : definedFields;

    /// <summary>Returns how some document uses a field; null if no document has named it.</summary>
    public NamedFieldUses? UsesOf(string name) => _fields.TryGetValue(name, out var field) ? field.Uses : null;

    /// <summary>Adds a field, or a use of it, and returns its position.</summary>
    /// <exception cref="IndexEntryException">The index has too many fields.</exception>
    internal int Add(string name, NamedFieldUses uses)
    {
        if (!_fields.TryGetValue(name, out var field))
        {
            field = new Named(_fields.Count, NamedFieldUses.None);
            if (field.Number == MaxNames)
            {
                throw new IndexEntryException(
                    $"The documents of an index may name {Amount.Number(MaxNames)} fields, and '{name}' is one more. "
                        + "Use several indexes, or one field whose values begin with the name."
                );
            }
        }
        else if (field.Uses.HasFlag(uses))
        {
            return definedFields + 1 + field.Number;
        }

        _fields[name] = field with { Uses = field.Uses | uses };
        Interlocked.Increment(ref _version);
        return definedFields + 1 + field.Number;
    }

    /// <summary>Returns the fields as ASCII lines, in the order of their numbers.</summary>
    internal string ToText()
    {
        var text = new StringBuilder();
        foreach (var (name, field) in _fields.OrderBy(static field => field.Value.Number))
        {
            text.Append(CultureInfo.InvariantCulture, $"{(byte)field.Uses} ");
            text.Append(Convert.ToBase64String(Encoding.UTF8.GetBytes(name))).Append('\n');
        }

        return text.ToString();
    }

    /// <summary>Replaces all fields by those of a text that <see cref="ToText"/> returned.</summary>
    internal void Load(string text)
    {
        _fields.Clear();
        foreach (string line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries))
        {
            int blank = line.IndexOf(' ', StringComparison.Ordinal);
            string name = Encoding.UTF8.GetString(Convert.FromBase64String(line[(blank + 1)..]));
            var uses = (NamedFieldUses)
                byte.Parse(line.AsSpan(0, blank), NumberStyles.None, CultureInfo.InvariantCulture);
            _fields[name] = new Named(_fields.Count, uses);
        }

        Interlocked.Increment(ref _version);
    }

    private sealed record Named(int Number, NamedFieldUses Uses);
}
