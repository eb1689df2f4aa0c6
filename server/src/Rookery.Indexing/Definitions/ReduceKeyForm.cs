using System.Text;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Normalises reduce keys to <see cref="CanonicalJson"/>, so that a group's row does not depend on which document was
/// indexed first. If the text writes the key as an object, its members keep the order of the text, and missing members
/// become null. In all other objects, at any depth, null members are removed, so null and missing are equal. Not
/// thread-safe.
/// </summary>
/// <param name="members">The members of the key, if the text writes it as an object; else empty.</param>
internal sealed class ReduceKeyForm(IReadOnlyList<ReduceKeyMember> members)
{
    // A double holds every integer of at most this many digits exactly, so such integers are in canonical form.
    private const int MaxPlainDigits = 15;

    private readonly PooledBytes _key = new();
    private readonly PooledBytes _canonical = new();

    /// <summary>Returns the normal form of a key.</summary>
    /// <param name="json">The key as JSON without whitespace between tokens.</param>
    /// <returns>The normal form, valid until the next call. It may be longer than <paramref name="json"/>, because it
    /// has the names of missing members.</returns>
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

    /// <summary>Releases the buffers.</summary>
    public void Release()
    {
        _key.Release();
        _canonical.Release();
    }

    private static bool IsInForm(ReadOnlySpan<byte> json) =>
        json[0] switch
        {
            (byte)'{' or (byte)'[' or (byte)'-' => false,
            (byte)'"' => !json.Contains((byte)'\\'),
            >= (byte)'0' and <= (byte)'9' => json.Length <= MaxPlainDigits
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
            if (StoredJson.TryFindMember(json, container: 0, named[i].Name, out _, out int at))
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

    /// <summary>Appends a value with the members of its objects ordered by name and without null members.</summary>
    private void AppendOrdered(ReadOnlySpan<byte> json)
    {
        _canonical.Clear();
        CanonicalJson.Append(json, _canonical);
        AppendWithoutNulls(_canonical.Written);
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

/// <summary>A member of a reduce key that the text writes as an object.</summary>
internal sealed class ReduceKeyMember
{
    private ReduceKeyMember(ObjectMember member)
    {
        const int MaxBytesOfEscape = 6;
        Name = Encoding.UTF8.GetBytes(member.Name!);
        byte[] escaped = new byte[Name.Length * MaxBytesOfEscape];
        Head = [(byte)'"', .. escaped.AsSpan(0, JsonText.Escape(Name, escaped)), .. "\":"u8];
        Members = Of(member.Value);
    }

    /// <summary>The name of the member, unescaped, in UTF-8.</summary>
    public byte[] Name { get; }

    /// <summary>The name in quotes, escaped, with its colon.</summary>
    public byte[] Head { get; }

    /// <summary>The members of its value, if the text writes that as an object, too; else empty.</summary>
    public IReadOnlyList<ReduceKeyMember> Members { get; }

    /// <summary>Returns the members of a key; empty if the text does not write it as an object.</summary>
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
