using System.Buffers.Text;
using System.Text.Unicode;
using Rookery.Json;

namespace Rookery.Documents.Redis.Running;

/// <summary>A path of the JSON commands that names one place: <c>$.a.b[0]</c>, <c>$["a"]</c>, or <c>.a.b</c>.</summary>
internal readonly ref struct JsonPath
{
    private readonly ReadOnlySpan<byte> _steps;

    private JsonPath(ReadOnlySpan<byte> steps, bool isList, int depth)
    {
        _steps = steps;
        Depth = depth;
        IsList = isList;
    }

    /// <summary>Whether the path begins with <c>$</c>, so that replies are lists of results.</summary>
    public bool IsList { get; }

    /// <summary>Number of names and indexes.</summary>
    public int Depth { get; }

    /// <summary>Whether the path names the root.</summary>
    public bool IsRoot => _steps.IsEmpty;

    /// <summary>Reads a path; false if it is not of this form.</summary>
    public static bool TryRead(ReadOnlySpan<byte> text, out JsonPath path)
    {
        path = default;
        bool isList = !text.IsEmpty && text[0] == (byte)'$';
        var steps = isList ? text[1..] : text;
        if (!Utf8.IsValid(text))
        {
            return false; // a name of the path may become one of the document
        }

        if (!isList && (text.IsEmpty || text.SequenceEqual("."u8)))
        {
            path = new JsonPath(default, isList: false, depth: 0);
            return !text.IsEmpty;
        }

        var rest = steps;
        bool isFirst = !isList;
        int depth = 0;
        for (; !rest.IsEmpty; depth++)
        {
            if (!TryReadStep(ref rest, isFirst, out _, out _))
            {
                return false;
            }

            isFirst = false;
        }

        path = new JsonPath(steps, isList, depth);
        return true;
    }

    /// <summary>Finds the place in JSON text without white space.</summary>
    /// <param name="json">The text.</param>
    /// <param name="place">The place, if it exists.</param>
    public bool TryFind(ReadOnlySpan<byte> json, out JsonPathPlace place)
    {
        place = new JsonPathPlace { Value = new RedisSlice(0, json.Length), Item = new RedisSlice(0, json.Length) };
        var rest = _steps;
        bool isFirst = !IsList;
        while (!rest.IsEmpty)
        {
            TryReadStep(ref rest, isFirst, out var name, out long? index);
            isFirst = false;
            int container = place.Value.Start;
            if (
                index is { } position
                    ? !TryFindElement(json, container, position, ref place)
                    : !TryFindMember(json, container, name, ref place)
            )
            {
                place.CanBeAdded = index is null && rest.IsEmpty && json[container] == (byte)'{';
                place.Name = name;
                place.Container = container;
                return false;
            }
        }

        return true;
    }

    private static bool TryFindMember(
        ReadOnlySpan<byte> json,
        int container,
        scoped ReadOnlySpan<byte> name,
        ref JsonPathPlace place
    )
    {
        if (
            json[container] != (byte)'{'
            || !StoredJson.TryFindMember(json, container, name, out var member, out int start)
        )
        {
            return false;
        }

        int end = member.End.Value;
        place.Value = new RedisSlice(start, end - start);
        place.Item = new RedisSlice(member.Start.Value, end - member.Start.Value);
        return true;
    }

    private static bool TryFindElement(ReadOnlySpan<byte> json, int container, long index, ref JsonPathPlace place)
    {
        if (json[container] != (byte)'[')
        {
            return false;
        }

        if (index < 0)
        {
            StoredJson.TryFindElement(json, container, long.MaxValue, out _, out int count);
            index += count;
        }

        if (index < 0 || !StoredJson.TryFindElement(json, container, index, out var element, out _))
        {
            return false;
        }

        place.Value = place.Item = new RedisSlice(element.Start.Value, element.End.Value - element.Start.Value);
        return true;
    }

    private static bool TryReadStep(
        scoped ref ReadOnlySpan<byte> rest,
        bool isFirst,
        out ReadOnlySpan<byte> name,
        out long? index
    )
    {
        name = default;
        index = null;
        if (rest[0] == (byte)'[')
        {
            return TryReadBracket(ref rest, out name, out index);
        }

        if (rest[0] == (byte)'.')
        {
            rest = rest[1..];
        }
        else if (!isFirst)
        {
            return false;
        }

        int end = rest.IndexOfAny((byte)'.', (byte)'[');
        name = end < 0 ? rest : rest[..end];
        rest = rest[name.Length..];
        return !name.IsEmpty && !name.ContainsAny("*?()]"u8);
    }

    private static bool TryReadBracket(scoped ref ReadOnlySpan<byte> rest, out ReadOnlySpan<byte> name, out long? index)
    {
        name = default;
        index = null;
        byte quote = rest.Length > 1 ? rest[1] : (byte)0;
        if (quote is (byte)'"' or (byte)'\'')
        {
            int end = rest[2..].IndexOf(quote);
            if (end < 0 || rest.Length < end + 4 || rest[end + 3] != (byte)']')
            {
                return false;
            }

            name = rest.Slice(2, end);
            rest = rest[(end + 4)..];
            return !name.Contains((byte)'\\');
        }

        int close = rest.IndexOf((byte)']');
        if (close < 2 || !Utf8Parser.TryParse(rest[1..close], out long position, out int read) || read != close - 1)
        {
            return false;
        }

        index = position;
        rest = rest[(close + 1)..];
        return true;
    }
}

/// <summary>A place in JSON text.</summary>
internal ref struct JsonPathPlace
{
    /// <summary>The value.</summary>
    public RedisSlice Value { get; set; }

    /// <summary>The member with its name, or the element.</summary>
    public RedisSlice Item { get; set; }

    /// <summary>If the place does not exist: whether an object can get it as a new member.</summary>
    public bool CanBeAdded { get; set; }

    /// <summary>The name of the new member.</summary>
    public ReadOnlySpan<byte> Name { get; set; }

    /// <summary>Offset of the object that gets the new member.</summary>
    public int Container { get; set; }
}
