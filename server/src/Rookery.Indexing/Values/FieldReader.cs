using System.Text;
using Rookery.Json;

namespace Rookery.Indexing.Values;

/// <summary>Receives the values of a field one by one.</summary>
public interface IValueVisitor
{
    /// <summary>Receives a value.</summary>
    /// <param name="json">The stored value: JSON without whitespace between tokens, never an array.</param>
    /// <returns>Whether to continue with the next value.</returns>
    bool Visit(scoped ReadOnlySpan<byte> json);
}

/// <summary>
/// Reads the values of a field in place. If the path leads through or to an array, with or without <c>[]</c>, all its
/// elements are read, also those of nested arrays. Null is a value. A missing member or an empty array has no values.
/// The last steps may be <see cref="PseudoMember"/>s: <c>at.Date.Year</c>. Thread-safe.
/// </summary>
public sealed class FieldReader
{
    private const string MetadataName = "@metadata";

    private readonly byte[][] _steps;
    private readonly IReadOnlyList<string> _names;
    private readonly bool _isMetadata;

    // For each step, the property that it names, if all later steps name properties, too; otherwise null.
    private readonly PseudoMember?[] _pseudo;

    /// <summary>Makes a reader of one path.</summary>
    /// <param name="path">The path.</param>
    public FieldReader(FieldPath path)
        : this(path.Names) { }

    /// <summary>Makes a reader of one path.</summary>
    /// <param name="names">The names of the steps, at least one.</param>
    public FieldReader(IReadOnlyList<string> names)
    {
        ArgumentOutOfRangeException.ThrowIfZero(names.Count);
        _names = names;
        _isMetadata = string.Equals(names[0], MetadataName, StringComparison.Ordinal);
        _steps = new byte[names.Count - (_isMetadata ? 1 : 0)][];
        for (int i = 0; i < _steps.Length; i++)
        {
            _steps[i] = Encoding.UTF8.GetBytes(names[names.Count - _steps.Length + i]);
        }

        // The first name of a path is always a member.
        _pseudo = new PseudoMember?[_steps.Length];
        for (int i = _steps.Length - 1; i >= 0 && names.Count - _steps.Length + i > 0; i--)
        {
            _pseudo[i] = PseudoMember.Of(names[names.Count - _steps.Length + i]);
            if (_pseudo[i] is null)
            {
                break;
            }
        }
    }

    /// <summary>Reads the document's id, as <c>id()</c> does.</summary>
    public static FieldReader Id { get; } = new([MetadataName, "@id"]);

    /// <summary>Passes the values of one document to a visitor.</summary>
    /// <param name="document">The document.</param>
    /// <param name="visitor">Receives the values, in the order of the document.</param>
    /// <returns>False if the visitor stopped.</returns>
    public bool Read<TVisitor>(in QueriedDocument document, scoped ref TVisitor visitor)
        where TVisitor : struct, IValueVisitor, allows ref struct
    {
        if (!_isMetadata)
        {
            return ReadMember(document.Members, BeforeMembers, step: 0, ref visitor);
        }

        return !document.IsStored || MetadataValues.Read(document, this, ref visitor);
    }

    /// <summary>
    /// Passes the values below one JSON value to a visitor, following the remaining steps of the path.
    /// </summary>
    /// <param name="json">The JSON that contains the value.</param>
    /// <param name="at">The offset of the value.</param>
    /// <param name="step">The first remaining step.</param>
    /// <param name="visitor">Receives the values.</param>
    /// <returns>False if the visitor stopped.</returns>
    internal bool ReadFrom<TVisitor>(scoped ReadOnlySpan<byte> json, int at, int step, scoped ref TVisitor visitor)
        where TVisitor : struct, IValueVisitor, allows ref struct
    {
        if (HasPseudo(step) && json[at] != (byte)'{')
        {
            Span<byte> value = stackalloc byte[PseudoMember.MaxBytes];
            int length = WritePseudo(json, at, step, value);
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

    /// <summary>The names of the steps from the root of the document.</summary>
    public IReadOnlyList<string> Names => _names;

    /// <summary>The names of the steps; without <c>@metadata</c> for a path into the metadata.</summary>
    internal ReadOnlySpan<byte[]> Steps => _steps;

    /// <summary>Returns whether a step and all after it name properties (<see cref="PseudoMember"/>).</summary>
    internal bool HasPseudo(int step) => step < _pseudo.Length && _pseudo[step] is not null;

    /// <summary>
    /// Writes the property that a step and all after it name, as JSON. Returns its length; 0 if the value does not have
    /// the property.
    /// </summary>
    /// <param name="json">The JSON that contains the value.</param>
    /// <param name="at">The offset of the value.</param>
    /// <param name="step">A step for which <see cref="HasPseudo"/> is true.</param>
    /// <param name="destination">Receives the JSON; at least <see cref="PseudoMember.MaxBytes"/> bytes.</param>
    internal int WritePseudo(ReadOnlySpan<byte> json, int at, int step, Span<byte> destination)
    {
        int length = _pseudo[step]!.Write(json, at, destination);
        Span<byte> value = stackalloc byte[PseudoMember.MaxBytes];
        for (step++; step < _pseudo.Length && length > 0; step++)
        {
            destination[..length].CopyTo(value);
            length = _pseudo[step]!.Write(value[..length], at: 0, destination);
        }

        return length;
    }

    /// <summary>Whether the path leads into the metadata.</summary>
    public bool IsMetadata => _isMetadata;

    /// <summary>Stands for the offset of the opening brace, if members are given without braces.</summary>
    internal const int BeforeMembers = -1;

    /// <summary>Passes the values of a member, following the path from a step on, to a visitor.</summary>
    /// <param name="json">The JSON that contains the member.</param>
    /// <param name="container">The offset of the object, or <see cref="BeforeMembers"/>.</param>
    /// <param name="step">The step that names the member.</param>
    /// <param name="visitor">Receives the values.</param>
    /// <returns>False if the visitor stopped.</returns>
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
