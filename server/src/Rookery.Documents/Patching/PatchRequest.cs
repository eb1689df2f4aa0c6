using System.Buffers.Binary;
using System.Text;
using Rookery.Documents.Json;

namespace Rookery.Documents.Patching;

/// <summary>Reads the patch parts of requests and compiles them into a program.</summary>
/// <param name="formatLevel">What may be written: below <see cref="FormatLevel.Scripts"/> only the lines of typed session patches.</param>
internal sealed class PatchRequest(int formatLevel)
{
    private readonly PooledBytes program = new();
    private readonly PooledBytes script = new();
    private readonly PooledBytes scriptIfMissing = new();
    private bool isCompiled;
    private bool isCompiledIfMissing;
    private InputError refusal;

    /// <summary>The encoded program, after <see cref="Complete"/> or <see cref="SetMerge"/>.</summary>
    public ReadOnlySpan<byte> Program => program.Written;

    /// <summary>Whether a script was read.</summary>
    public bool HasScript => script.Length > 0;

    /// <summary>Why a script was refused; none when the scanner knows.</summary>
    public InputError Refusal => refusal;

    /// <summary>Forgets the last request.</summary>
    public void Clear()
    {
        program.Clear();
        script.Clear();
        scriptIfMissing.Clear();
        refusal = default;
    }

    /// <summary>Gives the buffers back.</summary>
    public void Release()
    {
        program.Release();
        script.Release();
        scriptIfMissing.Release();
    }

    /// <summary>Reads <c>"Patch":{"Script":…,"Values":…}</c>.</summary>
    public bool TryReadPatch(scoped ref JsonScanner scanner) => TryReadScript(ref scanner, script, out isCompiled);

    /// <summary>Reads <c>"PatchIfMissing":{…}</c> or null.</summary>
    public bool TryReadPatchIfMissing(scoped ref JsonScanner scanner) =>
        scanner.Peek() == (byte)'n' ? scanner.TryTakeLiteral("null"u8) : TryReadScript(ref scanner, scriptIfMissing, out isCompiledIfMissing);

    /// <summary>Makes the program of the scripts read.</summary>
    /// <param name="createIfMissing">The document to store when there is none; read or not.</param>
    public void Complete(in ParsedDocument createIfMissing)
    {
        if (isCompiled)
        {
            program.Append((byte)ProgramKind.Compiled);
            program.Append(script.Written);
        }
        else
        {
            program.Append((byte)ProgramKind.Script);
            program.Advance(StoredDocument.WriteBytes(program.Reserve(Varint.MaxBytes + script.Length), 0, script.Written));
        }

        if (createIfMissing.IsRead)
        {
            program.Append((byte)MissingKind.StoreDocument);
            BinaryPrimitives.WriteInt64LittleEndian(program.Reserve(8), createIfMissing.ExpiresAtTicks);
            program.Advance(8);
            program.Advance(StoredDocument.WriteContent(program.Reserve(StoredDocument.ContentBytes(createIfMissing)), createIfMissing));
        }
        else
        {
            program.Append((byte)(scriptIfMissing.Length == 0 ? MissingKind.Nothing : isCompiledIfMissing ? MissingKind.RunCompiled : MissingKind.RunScript));
            program.Append(scriptIfMissing.Written);
        }
    }

    /// <summary>Makes the program of a merge patch.</summary>
    public void SetMerge(in ParsedDocument patch, bool createIfMissing) => MergeProgram.Write(program, patch, createIfMissing);

    private bool RefuseMember(JsonScanner scanner, ReadOnlySpan<byte> member)
    {
        string name = Encoding.UTF8.GetString(member);
        refusal = InputErrors.InJson(
            InputErrorCode.NotSupported, scanner.Json, scanner.Position, $"The member '{name}' of a patch is not supported by this version", "Send Script and Values");
        return false;
    }

    private bool TryReadScript(scoped ref JsonScanner scanner, PooledBytes output, out bool isOfAnyForm)
    {
        isOfAnyForm = false;
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
            else
            {
                bool isValues = member.SequenceEqual("Values"u8);
                bool isNull = scanner.Peek() == (byte)'n';
                int valueStart = scanner.Position;
                isRead = isValues ? arguments.TryRead(ref scanner)
                    : isNull ? scanner.TryTakeLiteral("null"u8)
                    : RefuseMember(scanner, member);
                values = isValues ? valueStart..scanner.Position : values;
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
            refusal = InputErrors.InJson(InputErrorCode.InvalidPatch, scanner.Json, start, "The patch has no Script", "Send {\"Script\":\"this.a = args.a\",\"Values\":{\"a\":1}}");
            return false;
        }

        if (ScriptCompiler.TryCompile(text, arguments, output, out refusal))
        {
            return true;
        }

        if (refusal.Code != InputErrorCode.NotSupported)
        {
            return false;
        }

        isOfAnyForm = true;
        output.Clear();
        return PatchScript.TryWrite(Encoding.UTF8.GetString(text), scanner.Json[values], formatLevel, output, out refusal);
    }
}
