using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Gives reduce keys one form, so that the row of a group does not depend on which of its documents was indexed first:
/// that of <see cref="CanonicalJson"/>. What is missing is null where the key is an object in the text, in the order of
/// the text; of all other objects, at any depth, null members are left out, so that null and missing are one. One
/// thread at a time.
/// </summary>
/// <param name="members">The members of the key, where it is an object in the text.</param>
internal sealed class ReduceKeyForm(IReadOnlyList<ReduceKeyMember> members)
{
    private const int MostPlainDigits = 15;

    private readonly PooledBytes _key = new();
    private readonly PooledBytes _others = new();

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
        Append(json, members);
        return _key.Written;
    }

    /// <summary>Gives the memory back.</summary>
    public void Release()
    {
        _key.Release();
        _others.Release();
    }

    private static bool IsInForm(ReadOnlySpan<byte> json) =>
        json[0] switch
        {
            (byte)'{' or (byte)'[' or (byte)'-' => false,
            (byte)'"' => !json.Contains((byte)'\\'),
            >= (byte)'0' and <= (byte)'9' => json.Length <= MostPlainDigits
                && !json.ContainsAnyExceptInRange((byte)'0', (byte)'9'),
            _ => true,
        };

    private void Append(ReadOnlySpan<byte> json, IReadOnlyList<ReduceKeyMember> named)
    {
        if (json[0] != (byte)'{' || named.Count == 0)
        {
            AppendOrdered(json);
            return;
        }

        _key.Append((byte)'{');
        for (int i = 0; i < named.Count; i++)
        {
            _key.Append(i > 0 ? ","u8 : default);
            _key.Append(named[i].Head);
            if (StoredJson.TryFindMember(json, 0, named[i].Name, out _, out int at))
            {
                Append(json[at..StoredJson.SkipValue(json, at)], named[i].Members);
            }
            else
            {
                _key.Append("null"u8);
            }
        }

        _key.Append((byte)'}');
    }

    /// <summary>
    /// Appends a value with the members of its objects in the order of their names, and without those that are null.
    /// </summary>
    private void AppendOrdered(ReadOnlySpan<byte> json)
    {
        _others.Clear();
        CanonicalJson.Append(json, _others);
        AppendWithoutNulls(_others.Written);
    }

    private void AppendWithoutNulls(ReadOnlySpan<byte> json)
    {
        bool isObject = json[0] == (byte)'{';
        if (!isObject && json[0] != (byte)'[')
        {
            _key.Append(json);
            return;
        }

        _key.Append(json[0]);
        bool isFirst = true;
        for (int at = 1; at < json.Length - 1; at++)
        {
            int value = isObject ? JsonText.SkipString(json, at) + 1 : at;
            int end = StoredJson.SkipValue(json, value);
            if (!isObject || json[value] != (byte)'n')
            {
                _key.Append(isFirst ? default : ","u8);
                _key.Append(json[at..value]);
                AppendWithoutNulls(json[value..end]);
                isFirst = false;
            }

            at = end;
        }

        _key.Append(json[^1]);
    }
}

/// <summary>A member of a reduce key that is an object in the text.</summary>
internal sealed class ReduceKeyMember
{
    private ReduceKeyMember(ObjectMember member)
    {
        const int MostBytesOfEscape = 6;
        Name = Encoding.UTF8.GetBytes(member.Name!);
        byte[] escaped = new byte[Name.Length * MostBytesOfEscape];
        Head = [(byte)'"', .. escaped.AsSpan(0, JsonText.Escape(Name, escaped)), .. "\":"u8];
        Members = Of(member.Value);
    }

    /// <summary>Its name.</summary>
    public byte[] Name { get; }

    /// <summary>The name as it stands before the value.</summary>
    public byte[] Head { get; }

    /// <summary>The members of its value, where that is an object in the text, too.</summary>
    public IReadOnlyList<ReduceKeyMember> Members { get; }

    /// <summary>The members of a key; none where it is another value.</summary>
    public static IReadOnlyList<ReduceKeyMember> Of(ScriptSource key) =>
        key.Statements is [.., ReturnStatement { Value: { } value }] ? Of(value) : [];

    private static ReduceKeyMember[] Of(Expression value)
    {
        if (value is not ObjectLiteral { Members: var members } || members.Any(static member => member.Name is null))
        {
            return [];
        }

        var named = members.DistinctBy(static member => member.Name, StringComparer.Ordinal);
        return [.. named.Select(static member => new ReduceKeyMember(member))];
    }
}
