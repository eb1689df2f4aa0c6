using System.Globalization;
using Rookery.Documents.Commands;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>
/// Runs compiled lists of operations on a document's bytes. Each operation copies the document once, which is fast
/// enough because scripts are short and documents small.
/// </summary>
internal sealed class ScriptMachine
{
    /// <summary>
    /// Bytes that all operations of a script together may copy. A script that copied more would delay all other writes.
    /// </summary>
    private const long MaxCopiedBytes = 256L * 1024 * 1024;

    private PooledBytes _current = new(); // the document before the current operation
    private PooledBytes _patched = new(); // the document after it

    /// <summary>The document after <see cref="TryRun"/>, including braces.</summary>
    public ReadOnlySpan<byte> Result => _current.Written;

    /// <summary>Bytes that the script's operations copied.</summary>
    public long CopiedBytes { get; private set; }

    /// <summary>Why the script failed; null if it did not.</summary>
    public string? Failure { get; private set; }

    /// <summary>Runs a script on an object's members.</summary>
    public bool TryRun(ReadOnlySpan<byte> script, ReadOnlySpan<byte> members)
    {
        _current.Clear();
        _current.Append((byte)'{');
        _current.Append(members);
        _current.Append((byte)'}');
        Failure = null;
        CopiedBytes = 0;
        for (int at = 0; at < script.Length; )
        {
            var operation = (ScriptOperation)script[at++];
            if (
                !Varint.TryReadBytes(script, ref at, out ReadOnlySpan<byte> path)
                || !Varint.TryReadBytes(script, ref at, out ReadOnlySpan<byte> value)
            )
            {
                throw new CommandFormatException(
                    "A patch script in a command does not decode although its checksum is right: keep the data "
                        + "directory and report it."
                );
            }

            CopiedBytes += _current.Length;
            if (CopiedBytes > MaxCopiedBytes)
            {
                return Fail("the script has too many operations for a document of this size");
            }

            _patched.Clear();
            if (!TryExecute(operation, path, value))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Releases large buffers.</summary>
    public void Clear()
    {
        _current.Clear();
        _patched.Clear();
    }

    private bool TryExecute(ScriptOperation operation, ReadOnlySpan<byte> pathBytes, ReadOnlySpan<byte> value)
    {
        var path = new ScriptPath(pathBytes);
        int container = 0;
        while (true)
        {
            if (!path.TryNext())
            {
                throw new CommandFormatException(
                    "A path of a patch script does not decode although its checksum is right: keep the data "
                        + "directory and report it."
                );
            }

            if (!TryFind(container, path, out Range member, out int valueStart, out int count))
            {
                return
                    !path.HasNext
                    && operation is ScriptOperation.Assign or ScriptOperation.Increment or ScriptOperation.Delete
                    ? TryExecuteOnMissing(operation, container, path, count, value)
                    : Fail(Failure ?? $"{path.Describe()} does not exist");
            }

            if (!path.HasNext)
            {
                return TryExecuteOnValue(operation, path, member, valueStart, value);
            }

            container = valueStart;
        }
    }

    /// <summary>
    /// Finds one path segment in the container at an offset. If it returns false and sets <see cref="Failure"/>, the
    /// container cannot have such a segment.
    /// </summary>
    private bool TryFind(int container, ScriptPath path, out Range member, out int valueStart, out int count)
    {
        ReadOnlySpan<byte> json = _current.Written;
        count = 0;
        valueStart = 0;
        if (path.IsIndex && json[container] == (byte)'[')
        {
            bool isThere = StoredJson.TryFindElement(json, container, path.Index, out member, out count);
            valueStart = member.Start.Value;
            return isThere;
        }

        if (!path.IsIndex && json[container] == (byte)'{')
        {
            return StoredJson.TryFindMember(json, container, path.Name, out member, out valueStart);
        }

        member = default;
        return Fail($"{path.Describe()} cannot exist: its parent is no {(path.IsIndex ? "array" : "object")}");
    }

    /// <summary>Executes an operation whose container exists but whose last path segment does not.</summary>
    private bool TryExecuteOnMissing(
        ScriptOperation operation,
        int container,
        ScriptPath path,
        int count,
        ReadOnlySpan<byte> value
    )
    {
        if (Failure is not null)
        {
            return false;
        }

        if (operation == ScriptOperation.Delete)
        {
            return true;
        }

        if (path.IsIndex && path.Index != count)
        {
            return Fail($"{path.Describe()} would leave a gap in an array of {count}");
        }

        ReadOnlySpan<byte> json = _current.Written;
        int end = StoredJson.SkipValue(json, container) - 1;
        _patched.Append(json[..end]);
        if (end > container + 1)
        {
            _patched.Append((byte)',');
        }

        if (!path.IsIndex)
        {
            _patched.Append((byte)'"');
            _patched.Advance(JsonText.Escape(path.Name, _patched.Reserve(JsonText.EscapedBytes(path.Name))));
            _patched.Append("\":"u8);
        }

        _patched.Append(value);
        _patched.Append(json[end..]);
        return Swap();
    }

    private bool TryExecuteOnValue(
        ScriptOperation operation,
        ScriptPath path,
        Range member,
        int valueStart,
        ReadOnlySpan<byte> argument
    )
    {
        ReadOnlySpan<byte> json = _current.Written;
        Range old = valueStart..member.End.Value;
        switch (operation)
        {
            case ScriptOperation.Assign:
                return Replace(old, argument);
            case ScriptOperation.Delete:
                return Remove(member);
            case ScriptOperation.Increment:
                _patched.Append(json[..valueStart]);
                if (!ScriptAddition.TryAdd(json[old], argument, _patched))
                {
                    return Fail(
                        $"{path.Describe()} and the value are not both numbers or text, so they cannot be added"
                    );
                }

                _patched.Append(json[member.End.Value..]);
                return Swap();
            case ScriptOperation.Push when json[valueStart] == (byte)'[':
                _patched.Append(json[..(member.End.Value - 1)]);
                _patched.Append(json[valueStart + 1] == (byte)']' ? default : ","u8);
                _patched.Append(argument);
                _patched.Append(json[(member.End.Value - 1)..]);
                return Swap();
            case ScriptOperation.RemoveAt when json[valueStart] == (byte)'[':
                return TryRemoveAt(valueStart, argument);
            case ScriptOperation.Push or ScriptOperation.RemoveAt:
                return Fail($"{path.Describe()} is no array");
            default:
                throw new CommandFormatException(
                    $"A patch script holds operation {(byte)operation}, which this program does not know: "
                        + $"start the newer program that wrote it."
                );
        }
    }

    /// <summary>
    /// Removes an element like JavaScript's splice(index, 1): a negative index counts from the end, an index after the
    /// end removes nothing.
    /// </summary>
    private bool TryRemoveAt(int array, ReadOnlySpan<byte> argument)
    {
        if (!long.TryParse(argument, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long index))
        {
            return Fail("the index to remove is no integer");
        }

        ReadOnlySpan<byte> json = _current.Written;
        if (index < 0)
        {
            // No element has the index -1, so the call counts all elements.
            StoredJson.TryFindElement(json, array, -1, out _, out int count);
            index = Math.Max(0, count + index);
        }

        return !StoredJson.TryFindElement(json, array, index, out Range element, out _) || Remove(element);
    }

    private bool Replace(Range old, ReadOnlySpan<byte> value)
    {
        ReadOnlySpan<byte> json = _current.Written;
        _patched.Append(json[..old.Start.Value]);
        _patched.Append(value);
        _patched.Append(json[old.End.Value..]);
        return Swap();
    }

    /// <summary>Removes a member or an element, and one adjacent comma.</summary>
    private bool Remove(Range part)
    {
        ReadOnlySpan<byte> json = _current.Written;
        (int start, int end) = (part.Start.Value, part.End.Value);
        if (json[end] == (byte)',')
        {
            end++;
        }
        else if (json[start - 1] == (byte)',')
        {
            start--;
        }

        _patched.Append(json[..start]);
        _patched.Append(json[end..]);
        return Swap();
    }

    // Makes the patched document the current one. Returns true.
    private bool Swap()
    {
        (_current, _patched) = (_patched, _current);
        return true;
    }

    private bool Fail(string reason)
    {
        Failure = reason;
        return false;
    }
}
