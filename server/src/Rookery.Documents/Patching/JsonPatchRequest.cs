using System.Globalization;
using System.Text;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>Reads the operations of a JSON Patch (RFC 6902) in requests and encodes them as a program.</summary>
/// <param name="formatLevel">The cluster's format level. Below <see cref="FormatLevel.JsonPatches"/> a JSON Patch is
/// refused, because not all members can apply it.</param>
internal sealed class JsonPatchRequest(int formatLevel)
{
    private const string Metadata = "@metadata";

    private readonly PooledBytes _program = new();
    private readonly PooledBytes _path = new();
    private readonly PooledBytes _from = new();
    private readonly PooledBytes _value = new();
    private InputError _refusal;

    /// <summary>Whether operations were read.</summary>
    public bool IsRead => _program.Length > 0;

    /// <summary>The encoded program; see <see cref="ProgramKind.JsonPatch"/>.</summary>
    public ReadOnlySpan<byte> Program => _program.Written;

    /// <summary>Why the patch was refused; the default value if the scanner has the error.</summary>
    public InputError Refusal => _refusal;

    /// <summary>Resets the request.</summary>
    public void Clear()
    {
        _program.Clear();
        _refusal = default;
    }

    /// <summary>Releases the buffers.</summary>
    public void Release()
    {
        _program.Release();
        _path.Release();
        _from.Release();
        _value.Release();
    }

    /// <summary>Reads <c>{"Operations":[…]}</c>, the form of RavenDB's clients.</summary>
    public bool TryReadEnvelope(scoped ref JsonScanner scanner)
    {
        scanner.Peek();
        int start = scanner.Position;
        if (scanner.Peek() == (byte)'[')
        {
            return Refuse(
                InputErrorCode.ObjectRequired,
                scanner,
                start,
                "The JSON Patch is an array, and an object must be here",
                "Send {\"Operations\":[…]}"
            );
        }

        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        bool hasOperations = false;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            ReadOnlySpan<byte> member = scanner.Text(name);
            bool isRead;
            if (member.SequenceEqual("Operations"u8))
            {
                isRead = hasOperations = TryReadOperations(ref scanner);
            }
            else
            {
                isRead =
                    scanner.Peek() == (byte)'n'
                        ? scanner.TryTakeLiteral("null"u8)
                        : Refuse(
                            InputErrorCode.NotSupported,
                            scanner,
                            scanner.Position,
                            $"The member '{Encoding.UTF8.GetString(member)}' of a JSON Patch is not supported by this "
                                + "version",
                            "Send Operations"
                        );
            }

            if (!isRead)
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None
            && (
                hasOperations
                || Refuse(
                    InputErrorCode.InvalidPatch,
                    scanner,
                    start,
                    "The JSON Patch has no Operations",
                    "Send {\"Operations\":[{\"op\":\"add\",\"path\":\"/a\",\"value\":1}]}"
                )
            );
    }

    /// <summary>Reads the array of operations, the form of RFC 6902.</summary>
    public bool TryReadOperations(scoped ref JsonScanner scanner)
    {
        scanner.Peek();
        if (formatLevel < FormatLevel.JsonPatches)
        {
            return Refuse(
                InputErrorCode.NotSupported,
                scanner,
                scanner.Position,
                "The format level of this upgraded node or cluster does not allow JSON Patches yet",
                "End the upgrade with 'rookery cluster finalize-upgrade', or send a script"
            );
        }

        _program.Clear();
        _program.Append((byte)ProgramKind.JsonPatch);
        if (scanner.Peek() is not ((byte)'[' or 0))
        {
            return Refuse(
                InputErrorCode.ArrayRequired,
                scanner,
                scanner.Position,
                "The operations of a JSON Patch are no array",
                "Send [{\"op\":\"add\",\"path\":\"/a\",\"value\":1}]"
            );
        }

        if (!scanner.TryTake((byte)'['))
        {
            return false;
        }

        bool first = true;
        for (int number = 0; scanner.TryNextElement(ref first); number++)
        {
            if (!TryReadOperation(ref scanner, number))
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None;
    }

    /// <summary>
    /// Reads one operation. Members that RFC 6902 does not define for it are ignored, as its section 4 requires.
    /// </summary>
    private bool TryReadOperation(scoped ref JsonScanner scanner, int number)
    {
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        string? op = null;
        bool hasPath = false;
        bool hasFrom = false;
        int wrongFromAt = -1;
        bool hasValue = false;
        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            ReadOnlySpan<byte> member = scanner.Text(name);
            bool isRead;
            if (member.SequenceEqual("op"u8))
            {
                isRead = scanner.TryReadString(out JsonSlice slice);
                op = isRead ? Encoding.UTF8.GetString(scanner.Text(slice)) : null;
            }
            else if (member.SequenceEqual("path"u8))
            {
                isRead = TryReadPointer(ref scanner, _path, out hasPath);
            }
            else if (member.SequenceEqual("from"u8))
            {
                isRead = TryReadFrom(ref scanner, out hasFrom, out wrongFromAt);
            }
            else if (member.SequenceEqual("value"u8))
            {
                isRead = hasValue = TryReadValue(ref scanner);
            }
            else
            {
                isRead = scanner.TrySkipValue(JsonLimits.MaxDepth);
            }

            if (!isRead)
            {
                return false;
            }
        }

        if (scanner.Error != InputErrorCode.None)
        {
            return false;
        }

        string where = string.Create(CultureInfo.InvariantCulture, $"Operations[{number}]");
        if (JsonPatchOperations.Find(op) is not { } known)
        {
            return Refuse(
                InputErrorCode.InvalidPatch,
                scanner,
                start,
                op is null
                    ? $"{where} has no 'op'"
                    : $"The op '{ShortText.Of(op, maxLength: 64)}' of {where} does not exist",
                "Send add, remove, replace, move, copy or test"
            );
        }

        bool takesFrom = known is JsonPatchOperation.Move or JsonPatchOperation.Copy;
        if (takesFrom && wrongFromAt >= 0)
        {
            return Refuse(
                InputErrorCode.WrongType,
                scanner,
                wrongFromAt,
                $"The 'from' of {where} ({op}) is no text",
                "Send a JSON pointer, like \"/lines/0\""
            );
        }

        bool takesValue = known is JsonPatchOperation.Add or JsonPatchOperation.Replace or JsonPatchOperation.Test;
        string? missing =
            !hasPath ? "path"
            : takesFrom && !hasFrom ? "from"
            : takesValue && !hasValue ? "value"
            : null;
        if (missing is not null)
        {
            return Refuse(
                InputErrorCode.InvalidPatch,
                scanner,
                start,
                $"{where} ({op}) has no '{missing}'",
                "Send the whole operation"
            );
        }

        if (!IsAllowed(scanner, start, where, known, takesFrom))
        {
            return false;
        }

        _program.Append((byte)known);
        AppendBytes(_path.Written);
        AppendBytes(
            takesFrom ? _from.Written
            : takesValue ? _value.Written
            : default
        );
        return true;
    }

    /// <summary>Checks what can be checked without the document.</summary>
    private bool IsAllowed(JsonScanner scanner, int start, string where, JsonPatchOperation operation, bool takesFrom)
    {
        var path = _path.Written;
        if (!JsonPointer.IsValid(path) || (takesFrom && !JsonPointer.IsValid(_from.Written)))
        {
            return Refuse(
                InputErrorCode.InvalidPatch,
                scanner,
                start,
                $"A path of {where} is no JSON pointer",
                "Write paths like /lines/0/product, with ~1 for a slash and ~0 for a tilde in a name"
            );
        }

        if (LeadsToMetadata(path) || (takesFrom && LeadsToMetadata(_from.Written)) || IsBodyWithMetadata(operation))
        {
            return Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                $"{where} concerns {Metadata}, which a JSON Patch of this version does not change or test",
                "Send a merge patch (Content-Type: application/merge-patch+json), or store the document"
            );
        }

        if (operation == JsonPatchOperation.Move && JsonPointer.IsInside(path, _from.Written))
        {
            return Refuse(
                InputErrorCode.InvalidPatch,
                scanner,
                start,
                $"{where} moves a value into itself",
                "Move it to a place outside of it, or copy it"
            );
        }

        if (!path.IsEmpty)
        {
            return true;
        }

        return operation switch
        {
            JsonPatchOperation.Remove => Refuse(
                InputErrorCode.InvalidPatch,
                scanner,
                start,
                $"{where} removes the whole document",
                "Delete the document"
            ),
            JsonPatchOperation.Add or JsonPatchOperation.Replace when _value.Written[0] != (byte)'{' => Refuse(
                InputErrorCode.InvalidPatch,
                scanner,
                start,
                $"{where} replaces the document by a value that is no object",
                "Send an object"
            ),
            _ => true,
        };
    }

    private static bool LeadsToMetadata(ReadOnlySpan<byte> pointer) =>
        pointer.StartsWith("/@metadata"u8)
        && (pointer.Length == "/@metadata".Length || pointer["/@metadata".Length] == (byte)'/');

    /// <summary>Whether the operation's value is a whole document that contains metadata.</summary>
    private bool IsBodyWithMetadata(JsonPatchOperation operation) =>
        _path.Length == 0
        && operation is JsonPatchOperation.Add or JsonPatchOperation.Replace or JsonPatchOperation.Test
        && HasMetadata(_value.Written);

    /// <summary>Whether a value is an object with a member @metadata.</summary>
    internal static bool HasMetadata(ReadOnlySpan<byte> value) =>
        value[0] == (byte)'{' && StoredJson.TryFindMember(value, container: 0, "@metadata"u8, out _, out _);

    /// <summary>
    /// Reads the pointer of 'from'. Skips a value of another type, because most operations ignore the member, and the
    /// operation's name may come later.
    /// </summary>
    /// <param name="scanner">The scanner, before the value.</param>
    /// <param name="isText">Whether the value is a string.</param>
    /// <param name="wrongAt">The position of a value that is neither a string nor null; otherwise -1.</param>
    private bool TryReadFrom(scoped ref JsonScanner scanner, out bool isText, out int wrongAt)
    {
        bool isTextOrNull = scanner.Peek() is (byte)'"' or (byte)'n';
        wrongAt = isTextOrNull ? -1 : scanner.Position;
        isText = false;
        return isTextOrNull
            ? TryReadPointer(ref scanner, _from, out isText)
            : scanner.TrySkipValue(JsonLimits.MaxDepth);
    }

    /// <summary>Reads a string; null counts as missing.</summary>
    private static bool TryReadPointer(scoped ref JsonScanner scanner, PooledBytes pointer, out bool isText)
    {
        pointer.Clear();
        isText = scanner.Peek() != (byte)'n';
        if (!isText)
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        pointer.Append(scanner.Text(slice));
        return true;
    }

    private bool TryReadValue(scoped ref JsonScanner scanner)
    {
        _value.Clear();
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TrySkipValue(JsonLimits.MaxDepth))
        {
            return false;
        }

        var json = scanner.Json[start..scanner.Position];
        _value.Advance(JsonText.Minimise(json, _value.Reserve(json.Length)));
        return true;
    }

    private void AppendBytes(ReadOnlySpan<byte> bytes) =>
        _program.Advance(Varint.WriteBytes(_program.Reserve(Varint.MaxBytes32 + bytes.Length), bytes));

    private bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string problem, string advice)
    {
        _refusal = InputErrors.InJson(code, scanner.Json, at, problem, advice);
        return false;
    }
}
