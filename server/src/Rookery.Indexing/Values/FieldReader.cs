using System.Text;
using Rookery.Json;

namespace Rookery.Indexing.Values;

/// <summary>Takes the values of a field one by one.</summary>
public interface IValueVisitor
{
    /// <summary>Takes a value.</summary>
    /// <param name="json">The value as it is stored: JSON without whitespace between its tokens; never an
    /// array.</param>
    /// <returns>False when no further value is wanted.</returns>
    bool Visit(scoped ReadOnlySpan<byte> json);
}

/// <summary>
/// Reads the values at one path, in place. Wherever an array stands, on the way or at the end, each of its elements
/// counts, with or without <c>[]</c>, and those of arrays in it; null is a value; what is missing and an empty array
/// are none. The last step may be a <see cref="PseudoMember"/>. Thread-safe.
/// </summary>
public sealed class FieldReader
{
    private const string MetadataName = "@metadata";

    private readonly byte[][] _steps;
    private readonly IReadOnlyList<string> _names;
    private readonly bool _isMetadata;
    private readonly PseudoMember? _pseudo;

    /// <summary>A reader of one path.</summary>
    /// <param name="path">The path.</param>
    public FieldReader(FieldPath path)
        : this(path.Names) { }

    /// <summary>A reader of one path.</summary>
    /// <param name="names">Names of its steps, at least one.</param>
    public FieldReader(IReadOnlyList<string> names)
    {
        ArgumentOutOfRangeException.ThrowIfZero(names.Count);
        _names = names;
        _pseudo = names.Count > 1 ? PseudoMember.Of(names[^1]) : null;
        _isMetadata = string.Equals(names[0], MetadataName, StringComparison.Ordinal);
        _steps = new byte[names.Count - (_isMetadata ? 1 : 0)][];
        for (int i = 0; i < _steps.Length; i++)
        {
            _steps[i] = Encoding.UTF8.GetBytes(names[names.Count - _steps.Length + i]);
        }
    }

    /// <summary>The document's id, as <c>id()</c> names it.</summary>
    public static FieldReader Id { get; } = new([MetadataName, "@id"]);

    /// <summary>Gives the values of one document to a visitor.</summary>
    /// <param name="document">The document.</param>
    /// <param name="visitor">Takes them, in the order of the document.</param>
    /// <returns>False when the visitor wanted no further one.</returns>
    public bool Read<TVisitor>(in QueriedDocument document, scoped ref TVisitor visitor)
        where TVisitor : struct, IValueVisitor, allows ref struct
    {
        if (!_isMetadata)
        {
            return ReadMember(document.Members, BeforeMembers, 0, ref visitor);
        }

        return !document.IsStored || MetadataValues.Read(document, this, ref visitor);
    }

    /// <summary>
    /// Gives the values of an element to a visitor: of an array's element, by the steps behind the array.
    /// </summary>
    /// <param name="json">The text that holds the element.</param>
    /// <param name="at">Where the element is.</param>
    /// <param name="step">The first of the steps from there.</param>
    /// <param name="visitor">Takes the values.</param>
    internal bool ReadFrom<TVisitor>(scoped ReadOnlySpan<byte> json, int at, int step, scoped ref TVisitor visitor)
        where TVisitor : struct, IValueVisitor, allows ref struct
    {
        if (step == _steps.Length - 1 && _pseudo is not null && json[at] != (byte)'{')
        {
            Span<byte> value = stackalloc byte[PseudoMember.MostBytes];
            int length = _pseudo.Write(json, at, value);
            if (length > 0)
            {
                return visitor.Visit(value[..length]);
            }
        }

        if (json[at] == (byte)'[')
        {
            at++;
            while (json[at] != (byte)']')
            {
                at = json[at] == (byte)',' ? at + 1 : at;
                int end = StoredJson.SkipValue(json, at);
                if (!ReadFrom(json, at, step, ref visitor))
                {
                    return false;
                }

                at = end;
            }

            return true;
        }

        if (step == _steps.Length)
        {
            return visitor.Visit(json[at..StoredJson.SkipValue(json, at)]);
        }

        return json[at] != (byte)'{' || ReadMember(json, at, step, ref visitor);
    }

    /// <summary>The names of the path, from the document's top.</summary>
    public IReadOnlyList<string> Names => _names;

    /// <summary>Names behind <c>@metadata</c>, or all of them.</summary>
    internal ReadOnlySpan<byte[]> Steps => _steps;

    /// <summary>What the last step means where no object stands; null for nothing.</summary>
    internal PseudoMember? Pseudo => _pseudo;

    /// <summary>Whether the path leads into the metadata.</summary>
    public bool IsMetadata => _isMetadata;

    /// <summary>Members without braces begin as if behind a brace here.</summary>
    internal const int BeforeMembers = -1;

    internal bool ReadMember<TVisitor>(
        scoped ReadOnlySpan<byte> json,
        int container,
        int step,
        scoped ref TVisitor visitor
    )
        where TVisitor : struct, IValueVisitor, allows ref struct =>
        !StoredJson.TryFindMember(json, container, _steps[step], out _, out int at)
        || ReadFrom(json, at, step + 1, ref visitor);
}
