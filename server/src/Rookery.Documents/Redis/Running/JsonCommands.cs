using System.Text.Unicode;
using Rookery.Json;
using Rookery.Platform;
using O = Rookery.Documents.Redis.RedisOpcode;

namespace Rookery.Documents.Redis.Running;

/// <summary>
/// The commands on JSON. A hash is a document, too, so they also read and change documents of other clients.
/// </summary>
internal sealed class JsonCommands(RedisSession session) : IDisposable
{
    private readonly PooledBytes _root = new();
    private readonly PooledBytes _changed = new();
    private readonly ObjectKeys _keys = new();

    // A document has one level more than a value that is its member Json.
    private const int MaxValueDepth = JsonLimits.MaxDepth - 2;

    private static ReadOnlySpan<byte> DefaultPath => "."u8;

    private RedisReply Reply => session.Reply;

    /// <summary>Runs a command; false if it is of another type.</summary>
    public bool TryRun(O opcode, RedisArguments arguments)
    {
        switch (opcode)
        {
            case O.JsonGet:
                Get(arguments);
                return true;
            case O.JsonGetMany:
                GetMany(arguments);
                return true;
            case O.JsonSet:
                Set(arguments);
                return true;
            case O.JsonDelete:
                Delete(arguments);
                return true;
            case O.JsonIncrement:
                Increment(arguments);
                return true;
            case O.JsonType:
                ReplyType(arguments);
                return true;
            default:
                return false;
        }
    }

    /// <summary>Returns large memory after a command.</summary>
    public void Trim()
    {
        _root.Clear();
        _changed.Clear();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _root.Release();
        _changed.Release();
    }

    // Loads the root as JSON text. If the key has another type, replies with an error and returns false.
    private bool TryLoad(RedisTarget target)
    {
        _root.Clear();
        if (!target.Exists)
        {
            return true;
        }

        var type = target.Type;
        if (type is not (RedisType.Json or RedisType.Hash))
        {
            Reply.Error(RedisErrors.WrongType);
            return false;
        }

        LoadRoot(target, type);
        return true;
    }

    private void LoadRoot(RedisTarget target, RedisType type)
    {
        _root.Clear();
        var body = target.View.Body;
        int at = 0;
        if (
            type == RedisType.Json
            && StoredJson.TryReadMember(body, ref at, out var name, out int start)
            && at == body.Length
            && RedisBody.IsName(body, name, RedisBody.JsonMember)
        )
        {
            _root.Append(body[start..]);
            return;
        }

        _root.Append((byte)'{');
        _root.Append(body);
        _root.Append((byte)'}');
    }

    private bool TryReadPath(ReadOnlySpan<byte> text, out JsonPath path)
    {
        if (JsonPath.TryRead(text, out path))
        {
            return true;
        }

        Reply.Error(
            $"ERR path '{RedisReply.Quote(text)}' is not served: a path consists of names and indexes, such as "
                + "$.a.b[0]"
        );
        return false;
    }

    private void Get(RedisArguments arguments)
    {
        using var target = session.Open(arguments[0]);
        if (!TryLoad(target))
        {
            return;
        }

        if (!target.Exists)
        {
            Reply.Null();
            return;
        }

        int paths = Math.Max(arguments.Count - 1, 1);
        _changed.Clear();
        _changed.Append(paths > 1 ? "{"u8 : default);
        for (int i = 0; i < paths; i++)
        {
            var text = i + 1 < arguments.Count ? arguments[i + 1] : DefaultPath;
            if (!TryReadPath(text, out var path))
            {
                return;
            }

            if (i > 0)
            {
                session.Store.Spend(_root.Length); // each path searches the document from its start
            }

            if (paths > 1)
            {
                _changed.Append(i > 0 ? ",\""u8 : "\""u8);
                _changed.Advance(JsonText.Escape(text, _changed.Reserve(JsonText.EscapedBytes(text))));
                _changed.Append("\":"u8);
            }

            if (!TryAppendResult(path, text))
            {
                return;
            }

            Reply.Limit(_changed.Length);
        }

        _changed.Append(paths > 1 ? "}"u8 : default);
        Reply.Bulk(_changed.Written);
    }

    private bool TryAppendResult(JsonPath path, ReadOnlySpan<byte> text)
    {
        bool isFound = path.TryFind(_root.Written, out var place);
        if (!isFound && !path.IsList)
        {
            Reply.Error($"ERR Path '{RedisReply.Quote(text)}' does not exist");
            return false;
        }

        _changed.Append(path.IsList ? "["u8 : default);
        _changed.Append(isFound ? _root.Written.Slice(place.Value.Start, place.Value.Length) : default);
        _changed.Append(path.IsList ? "]"u8 : default);
        return true;
    }

    private void GetMany(RedisArguments arguments)
    {
        var text = arguments[arguments.Count - 1];
        if (!TryReadPath(text, out var path))
        {
            return;
        }

        Reply.Array(arguments.Count - 1);
        for (int i = 0; i < arguments.Count - 1; i++)
        {
            using var target = session.Open(arguments[i]);
            var type = target.Type;
            if (type is not (RedisType.Json or RedisType.Hash))
            {
                Reply.Null();
                continue;
            }

            LoadRoot(target, type);
            _changed.Clear();
            if (path.TryFind(_root.Written, out var place))
            {
                _changed.Append(path.IsList ? "["u8 : default);
                _changed.Append(_root.Written.Slice(place.Value.Start, place.Value.Length));
                _changed.Append(path.IsList ? "]"u8 : default);
                Reply.Bulk(_changed.Written);
            }
            else if (path.IsList)
            {
                Reply.Bulk("[]"u8);
            }
            else
            {
                Reply.Null();
            }
        }
    }

    private void Set(RedisArguments arguments)
    {
        bool isNew = arguments.Count == 4 && RedisNumber.IsWord(arguments[3], "NX"u8);
        bool isOld = arguments.Count == 4 && RedisNumber.IsWord(arguments[3], "XX"u8);
        if (arguments.Count > 4 || (arguments.Count == 4 && !isNew && !isOld))
        {
            Reply.Error(RedisErrors.Syntax);
            return;
        }

        if (!TryReadPath(arguments[1], out var path) || !TryReadJson(arguments[2], path.Depth))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!path.IsRoot && !target.Exists)
        {
            Reply.Error("ERR new objects must be created at the root"u8);
            return;
        }

        var type = target.Type;
        if (!path.IsRoot || target.Exists)
        {
            if (!TryLoad(target))
            {
                return;
            }
        }

        var place = default(JsonPathPlace);
        bool isFound = target.Exists && path.TryFind(_root.Written, out place);
        if (isFound ? isNew : isOld || (!path.IsRoot && !place.CanBeAdded))
        {
            Reply.Null();
            return;
        }

        Replace(path, place, isFound);
        if (TryStore(target, path.IsRoot || type == RedisType.None ? RedisType.Json : type))
        {
            Reply.Ok();
        }
    }

    // Checks a value for a place at a depth, and writes it without white space to the session's buffer.
    private bool TryReadJson(ReadOnlySpan<byte> json, int depth)
    {
        _keys.Reset();
        var scanner = new JsonScanner(json, 0, _keys);
        bool isValid =
            Utf8.IsValid(json)
            && depth <= MaxValueDepth
            && scanner.TrySkipValue(MaxValueDepth - depth)
            && scanner.TryEnd();
        _keys.Reset();
        if (!isValid)
        {
            Reply.Error(
                $"ERR the value is no JSON with different names in each object and at most {JsonLimits.MaxDepth} levels"
            );
            return false;
        }

        session.Built.Clear();
        var start = json.TrimStart(" \t\r\n"u8).TrimEnd(" \t\r\n"u8);
        session.Built.Advance(JsonText.Minimise(start, session.Built.Reserve(start.Length)));
        return true;
    }

    // Writes the root with the new value to the buffer for changes.
    private void Replace(JsonPath path, scoped JsonPathPlace place, bool isFound)
    {
        _changed.Clear();
        var root = _root.Written;
        var value = session.Built.Written;
        if (path.IsRoot)
        {
            _changed.Append(value);
        }
        else if (isFound)
        {
            _changed.Append(root[..place.Value.Start]);
            _changed.Append(value);
            _changed.Append(root[(place.Value.Start + place.Value.Length)..]);
        }
        else
        {
            int end = StoredJson.SkipValue(root, place.Container) - 1;
            _changed.Append(root[..end]);
            _changed.Append(root[end - 1] == (byte)'{' ? "\""u8 : ",\""u8);
            _changed.Advance(JsonText.Escape(place.Name, _changed.Reserve(JsonText.EscapedBytes(place.Name))));
            _changed.Append("\":"u8);
            _changed.Append(value);
            _changed.Append(root[end..]);
        }
    }

    // Stores the changed root.
    private bool TryStore(RedisTarget target, RedisType type)
    {
        var root = _changed.Written;
        bool isDocument = root[0] == (byte)'{' && CanBeDocument(root[1..^1]);
        type = isDocument ? type : RedisType.Json;
        if (!isDocument && !HasLevelLeft(root))
        {
            Reply.Error($"ERR the value would have more than {JsonLimits.MaxDepth - 1} levels");
            return false;
        }

        if (target.Exists)
        {
            session.Content.Begin(target.View, type, target.ExpiresAtTicks);
        }
        else
        {
            session.Content.Begin(type, expiresAtTicks: 0);
        }

        session.Content.Append(isDocument ? default : "\"Json\":"u8);
        session.Content.Append(isDocument ? root[1..^1] : root);
        return session.TryPut(target);
    }

    // A document of another client may have one level more than those of JSON.SET.
    private bool HasLevelLeft(ReadOnlySpan<byte> root)
    {
        _keys.Reset();
        var scanner = new JsonScanner(root, 0, _keys);
        bool isLow = scanner.TrySkipValue(JsonLimits.MaxDepth - 1);
        _keys.Reset();
        return isLow;
    }

    // Returns whether an object can be stored as the document itself. One whose only member is Json would be read as
    // the value of that member, and documents give the member @metadata another meaning.
    private static bool CanBeDocument(ReadOnlySpan<byte> members)
    {
        int at = 0;
        bool isOnlyJson =
            StoredJson.TryReadMember(members, ref at, out var name, out _)
            && at == members.Length
            && RedisBody.IsName(members, name, RedisBody.JsonMember);
        return !isOnlyJson && !StoredJson.TryFindMember(members, container: -1, "@metadata"u8, out _, out _);
    }

    private void Delete(RedisArguments arguments)
    {
        if (arguments.Count > 2)
        {
            Reply.Error($"ERR wrong number of arguments for '{session.CommandName}' command");
            return;
        }

        if (!TryReadPath(arguments.Count > 1 ? arguments[1] : DefaultPath, out var path))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!TryLoad(target))
        {
            return;
        }

        if (!target.Exists || !path.TryFind(_root.Written, out var place))
        {
            Reply.Integer(false);
            return;
        }

        if (path.IsRoot)
        {
            session.Store.Delete(target);
            Reply.Integer(true);
            return;
        }

        var root = _root.Written;
        int start = place.Item.Start;
        int end = start + place.Item.Length;
        bool isLast = root[end] != (byte)',';
        _changed.Clear();
        _changed.Append(root[..(isLast && root[start - 1] == (byte)',' ? start - 1 : start)]);
        _changed.Append(root[(isLast ? end : end + 1)..]);
        if (TryStore(target, target.Type))
        {
            Reply.Integer(true);
        }
    }

    private void Increment(RedisArguments arguments)
    {
        if (!TryReadPath(arguments[1], out var path))
        {
            return;
        }

        if (!JsonSum.TryRead(arguments[2], out var increment))
        {
            Reply.Error("ERR the increment is not a number"u8);
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!TryLoad(target))
        {
            return;
        }

        if (!target.Exists)
        {
            Reply.Error("ERR could not perform this operation on a key that doesn't exist"u8);
            return;
        }

        bool isFound = path.TryFind(_root.Written, out var place);
        var old = isFound ? _root.Written.Slice(place.Value.Start, place.Value.Length) : default;
        if (!isFound || !JsonSum.TryRead(old, out var value))
        {
            ReplyNoNumber(path, isFound, arguments[1]);
            return;
        }

        Span<byte> digits = stackalloc byte[JsonNumber.MaxBytes];
        if (!JsonSum.TryAdd(value, increment, digits, out int length))
        {
            Reply.Error("ERR result is not a number"u8);
            return;
        }

        session.Built.Clear();
        session.Built.Append(digits[..length]);
        Replace(path, place, isFound: true);
        if (TryStore(target, target.Type))
        {
            _changed.Clear();
            _changed.Append(path.IsList ? "["u8 : default);
            _changed.Append(digits[..length]);
            _changed.Append(path.IsList ? "]"u8 : default);
            Reply.Bulk(_changed.Written);
        }
    }

    private void ReplyNoNumber(JsonPath path, bool isFound, ReadOnlySpan<byte> text)
    {
        if (path.IsList)
        {
            Reply.Bulk(isFound ? "[null]"u8 : "[]"u8);
        }
        else
        {
            Reply.Error($"ERR Path '{RedisReply.Quote(text)}' does not exist or does not contain a number");
        }
    }

    private void ReplyType(RedisArguments arguments)
    {
        if (arguments.Count > 2)
        {
            Reply.Error($"ERR wrong number of arguments for '{session.CommandName}' command");
            return;
        }

        if (!TryReadPath(arguments.Count > 1 ? arguments[1] : DefaultPath, out var path))
        {
            return;
        }

        using var target = session.Open(arguments[0]);
        if (!TryLoad(target))
        {
            return;
        }

        bool isFound = target.Exists && path.TryFind(_root.Written, out _);
        if (path.IsList && target.Exists)
        {
            Reply.Array(isFound ? 1 : 0);
        }
        else if (!isFound)
        {
            Reply.Null();
        }

        if (isFound)
        {
            path.TryFind(_root.Written, out var place);
            Reply.Bulk(JsonSum.TypeOf(_root.Written.Slice(place.Value.Start, place.Value.Length)));
        }
    }
}
