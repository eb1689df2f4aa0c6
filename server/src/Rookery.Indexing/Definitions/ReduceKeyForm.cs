using System.Text;
using Rookery.Documents.Json;
using Rookery.Documents.Scripting;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Gives reduce keys one form, so that the row of a group does not depend on which of its documents was indexed first: that of <see cref="CanonicalJson"/>. What is missing is null where the key is an object in the
/// text, in the order of the text; of other objects null members are left out. One thread at a time.
/// </summary>
/// <param name="names">The names of the key's members, where it is an object in the text.</param>
internal sealed class ReduceKeyForm(IReadOnlyList<string> names)
{
    private const int MostPlainDigits = 15;

    private readonly byte[][] _names = [.. names.Select(Encoding.UTF8.GetBytes)];
    private readonly PooledBytes _key = new();
    private readonly PooledBytes _others = new();

    /// <summary>The names of the members of a key that is an object in the text; none where it is another value.</summary>
    public static IReadOnlyList<string> NamesOf(ScriptSource key) =>
        key.Statements is [.., ReturnStatement { Value: ObjectLiteral literal }] && literal.Members.All(static member => member.Name is not null)
            ? [.. literal.Members.Select(static member => member.Name!).Distinct(StringComparer.Ordinal)]
            : [];

    /// <summary>The key with null where an object below it would lack a member.</summary>
    public static ScriptSource Complete(ScriptSource key) =>
        key.Statements is [.., ReturnStatement { Value: { } value } result] ? key with { Statements = [.. key.Statements.SkipLast(1), result with { Value = Complete(value, isBelow: false) }] } : key;

    /// <summary>The one form of a key.</summary>
    /// <param name="json">The key: JSON without whitespace between its tokens.</param>
    /// <returns>The form, until the next call, or as long as <paramref name="json"/>.</returns>
    public ReadOnlySpan<byte> Of(ReadOnlySpan<byte> json)
    {
        if (IsInForm(json))
        {
            return json;
        }

        _key.Clear();
        if (json[0] != (byte)'{')
        {
            CanonicalJson.Append(json, _key);
            return _key.Written;
        }

        _key.Append((byte)'{');
        foreach (byte[] name in _names)
        {
            AppendName(name);
            if (StoredJson.TryFindMember(json, 0, name, out _, out int at))
            {
                CanonicalJson.Append(json[at..StoredJson.SkipValue(json, at)], _key);
            }
            else
            {
                _key.Append("null"u8);
            }
        }

        if (_names.Length == 0)
        {
            AppendOthers(json);
        }

        _key.Append((byte)'}');
        return _key.Written;
    }

    /// <summary>Gives the memory back.</summary>
    public void Release()
    {
        _key.Release();
        _others.Release();
    }

    private static Expression Complete(Expression value, bool isBelow) => value switch
    {
        ObjectLiteral literal => literal with { Members = [.. literal.Members.Select(member => member with { Value = OrNull(Complete(member.Value, isBelow: true), isBelow) })] },
        ArrayLiteral array => array with { Elements = [.. array.Elements.Select(static element => Complete(element, isBelow: true))] },
        _ => value,
    };

    private static Expression OrNull(Expression value, bool isWanted) =>
        isWanted && value is not (ObjectLiteral or ArrayLiteral) ? new LogicalExpression(Opcode.JumpKeepingValue, value, new WordLiteral(Opcode.PushNull, value.Position), value.Position) : value;

    private static bool IsInForm(ReadOnlySpan<byte> json) => json[0] switch
    {
        (byte)'{' or (byte)'[' or (byte)'-' => false,
        (byte)'"' => !json.Contains((byte)'\\'),
        >= (byte)'0' and <= (byte)'9' => json.Length <= MostPlainDigits && !json.ContainsAnyExceptInRange((byte)'0', (byte)'9'),
        _ => true,
    };

    private void AppendName(ReadOnlySpan<byte> name)
    {
        const int MostBytesOfEscape = 6;
        _key.Append(_key.Length > 1 ? ",\""u8 : "\""u8);
        _key.Advance(JsonText.Escape(name, _key.Reserve(name.Length * MostBytesOfEscape)));
        _key.Append("\":"u8);
    }

    /// <summary>Appends the members of an object that is not in the text, in the order of their names.</summary>
    private void AppendOthers(ReadOnlySpan<byte> json)
    {
        _others.Clear();
        CanonicalJson.Append(json, _others);
        var ordered = _others.Written;
        int at = 1;
        while (StoredJson.TryReadMember(ordered, ref at, out var name, out int value))
        {
            if (ordered[value] != (byte)'n')
            {
                _key.Append(_key.Length > 1 ? ","u8 : default);
                _key.Append(ordered[(name.Start - 1)..at]);
            }
        }
    }
}
