using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Compiling;

namespace Rookery.Documents.Patching;

/// <summary>Reads the patches in requests and compiles them into a program.</summary>
/// <param name="formatLevel">The cluster's format level. Below <see cref="FormatLevel.Scripts"/>, only the simple
/// operations of typed session patches may be written.</param>
internal sealed class PatchRequest(int formatLevel)
{
    private readonly PooledBytes _program = new();
    private readonly PooledBytes _script = new();
    private readonly PooledBytes _scriptIfMissing = new();
    private ScriptProgram? _interpreted; // null for a list of simple operations
    private ScriptProgram? _interpretedIfMissing;
    private byte[] _text = []; // of a script of simple operations
    private Range _values; // the arguments of that script in the request
    private InputError _refusal;

    /// <summary>The encoded program, after <see cref="Complete"/> or <see cref="SetMerge"/>.</summary>
    public ReadOnlySpan<byte> Program => _program.Written;

    /// <summary>Whether a script was read.</summary>
    public bool HasScript { get; private set; }

    /// <summary>Whether a script was read that runs if the document is missing.</summary>
    public bool HasScriptIfMissing { get; private set; }

    /// <summary>Why a script was refused; the default value if the scanner has the error.</summary>
    public InputError Refusal => _refusal;

    /// <summary>Resets the request.</summary>
    public void Clear()
    {
        _program.Clear();
        _script.Clear();
        _scriptIfMissing.Clear();
        HasScript = false;
        HasScriptIfMissing = false;
        _refusal = default;
    }

    /// <summary>Releases the buffers.</summary>
    public void Release()
    {
        _program.Release();
        _script.Release();
        _scriptIfMissing.Release();
    }

    /// <summary>Reads <c>"Patch":{"Script":…,"Values":…}</c>.</summary>
    public bool TryReadPatch(scoped ref JsonScanner scanner) =>
        HasScript = TryReadScript(ref scanner, _script, keepsText: true, out _interpreted);

    /// <summary>Reads <c>"PatchIfMissing":{…}</c> or null.</summary>
    public bool TryReadPatchIfMissing(scoped ref JsonScanner scanner) =>
        scanner.Peek() == (byte)'n'
            ? scanner.TryTakeLiteral("null"u8)
            : HasScriptIfMissing = TryReadScript(
                ref scanner,
                _scriptIfMissing,
                keepsText: false,
                out _interpretedIfMissing
            );

    /// <summary>Encodes the scripts that were read as a program.</summary>
    /// <param name="createIfMissing">The document to store if none exists; the default value for none. Must be the
    /// default value if <see cref="HasScriptIfMissing"/>.</param>
    /// <param name="json">The request that was read.</param>
    public void Complete(in ParsedDocument createIfMissing, ReadOnlySpan<byte> json)
    {
        Invariant.Holds(!createIfMissing.IsRead || !HasScriptIfMissing, "one thing happens to a missing document");
        bool reachesIfMissing = HasScriptIfMissing && _interpretedIfMissing is { ReachesDocuments: true };
        if (reachesIfMissing && _interpreted is null)
        {
            // Only the program of an interpreted script can reserve etags for the script that runs if the document is
            // missing.
            _script.Clear();
            bool isWritten = PatchScript.TryWrite(
                Encoding.UTF8.GetString(_text),
                json[_values],
                formatLevel,
                _script,
                out _interpreted,
                out _
            );
            Invariant.Holds(isWritten, "a list of simple operations is a script");
        }

        if (_interpreted is not null)
        {
            PatchScript.WriteKind(
                _program,
                _interpreted.ReachesDocuments || reachesIfMissing,
                Math.Max(_interpreted.Writes, reachesIfMissing ? _interpretedIfMissing!.Writes : 0)
            );
            _program.Append(_script.Written);
        }
        else
        {
            _program.Append((byte)ProgramKind.Script);
            _program.Advance(Varint.WriteBytes(_program.Reserve(Varint.MaxBytes32 + _script.Length), _script.Written));
        }

        if (createIfMissing.IsRead)
        {
            _program.Append((byte)MissingKind.StoreDocument);
            BinaryPrimitives.WriteInt64LittleEndian(_program.Reserve(sizeof(long)), createIfMissing.ExpiresAtTicks);
            _program.Advance(sizeof(long));
            _program.Advance(
                StoredDocument.WriteContent(
                    _program.Reserve(StoredDocument.ContentBytes(createIfMissing)),
                    createIfMissing
                )
            );
        }
        else
        {
            _program.Append(
                (byte)(
                    !HasScriptIfMissing ? MissingKind.Nothing
                    : _interpretedIfMissing is not null ? MissingKind.RunCompiled
                    : MissingKind.RunScript
                )
            );
            _program.Append(_scriptIfMissing.Written);
        }
    }

    /// <summary>Encodes the program of a merge patch.</summary>
    public void SetMerge(in ParsedDocument patch, bool createIfMissing) =>
        MergeProgram.Write(_program, patch, createIfMissing);

    private bool RefuseMember(JsonScanner scanner, ReadOnlySpan<byte> member)
    {
        string name = Encoding.UTF8.GetString(member);
        _refusal = InputErrors.InJson(
            InputErrorCode.NotSupported,
            scanner.Json,
            scanner.Position,
            $"The member '{name}' of a patch is not supported by this version",
            Spelling.FindSimilar(name, "Script", "Values") is { } meant ? $"Send '{meant}'" : "Send Script and Values"
        );
        return false;
    }

    // Reads a script with its arguments and encodes it. The program is null if the script is a list of simple
    // operations, which is not interpreted.
    private bool TryReadScript(
        scoped ref JsonScanner scanner,
        PooledBytes output,
        bool keepsText,
        out ScriptProgram? interpreted
    )
    {
        interpreted = null;
        output.Clear();
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        byte[]? text = null;
        var arguments = new PatchArguments();
        Range values = default;
        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            ReadOnlySpan<byte> member = scanner.Text(name);
            bool isRead;
            if (member.SequenceEqual("Script"u8))
            {
                isRead = scanner.TryReadString(out JsonSlice slice);
                text = isRead ? scanner.Text(slice).ToArray() : null;
            }
            else if (member.SequenceEqual("Values"u8))
            {
                scanner.Peek(); // skips the whitespace before the values
                int valueStart = scanner.Position;
                isRead = arguments.TryRead(ref scanner);
                values = valueStart..scanner.Position;
            }
            else
            {
                bool isNull = scanner.Peek() == (byte)'n';
                isRead = isNull ? scanner.TryTakeLiteral("null"u8) : RefuseMember(scanner, member);
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

        if (text is null)
        {
            _refusal = InputErrors.InJson(
                InputErrorCode.InvalidPatch,
                scanner.Json,
                start,
                "The patch has no Script",
                "Send {\"Script\":\"this.a = args.a\",\"Values\":{\"a\":1}}"
            );
            return false;
        }

        if (ScriptCompiler.TryCompile(text, arguments, output, out _refusal))
        {
            if (keepsText)
            {
                (_text, _values) = (text, values);
            }

            return true;
        }

        if (_refusal.IsError)
        {
            return false;
        }

        output.Clear();
        return PatchScript.TryWrite(
            Encoding.UTF8.GetString(text),
            scanner.Json[values],
            formatLevel,
            output,
            out interpreted,
            out _refusal
        );
    }
}
