using System.Buffers.Binary;
using Rookery.Documents.Nodes;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Documents.Patching;

/// <summary>Encodes interpreted patch scripts, with their arguments, for commands.</summary>
public static class PatchScript
{
    /// <summary>Encodes a script that patches many existing documents and creates none.</summary>
    /// <param name="script">The script.</param>
    /// <param name="arguments">The value of <c>args</c>: a JSON object, or empty.</param>
    /// <param name="formatLevel">The cluster's format level.</param>
    /// <param name="program">The program for each document's patch.</param>
    /// <param name="error">The reason for a refusal: not all members can run the script.</param>
    public static bool TryEncode(
        ScriptProgram script,
        ReadOnlySpan<byte> arguments,
        int formatLevel,
        out byte[] program,
        out InputError error
    )
    {
        var output = new PooledBytes();
        WriteKind(output, script.ReachesDocuments, script.Writes);
        bool isEncoded = TryWrite(script, string.Empty, arguments, formatLevel, output, out error);
        output.Append((byte)MissingKind.Nothing);
        program = isEncoded ? output.Written.ToArray() : [];
        output.Release();
        return isEncoded;
    }

    /// <summary>Returns whether a program may store or delete other documents.</summary>
    public static bool ReservesEtags(ReadOnlySpan<byte> program) =>
        new PatchProgram { Bytes = program }.ReservedEtags > 0;

    /// <summary>Appends the kind of an interpreted script.</summary>
    internal static void WriteKind(PooledBytes output, bool reaches, int writes)
    {
        output.Append((byte)(reaches ? ProgramKind.Reaching : ProgramKind.Compiled));
        if (reaches)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(output.Reserve(sizeof(ushort)), (ushort)writes);
            output.Advance(sizeof(ushort));
        }
    }

    /// <summary>Compiles a script and appends <c>[program varint+bytes][arguments varint+JSON]</c>.</summary>
    internal static bool TryWrite(
        string script,
        ReadOnlySpan<byte> arguments,
        int formatLevel,
        PooledBytes output,
        out ScriptProgram? program,
        out InputError error
    )
    {
        program = null;
        try
        {
            bool changesMetadata = formatLevel >= FormatLevel.ScriptsOfSecondVersion;
            program = JavaScript.CompilePatch(script, changesMetadata);
            return TryWrite(program, script, arguments, formatLevel, output, out error);
        }
        catch (ScriptException refusal)
        {
            error = refusal.ToInputError(script);
            return false;
        }
    }

    private static bool TryWrite(
        ScriptProgram script,
        string text,
        ReadOnlySpan<byte> arguments,
        int formatLevel,
        PooledBytes output,
        out InputError error
    )
    {
        if (formatLevel < FormatLevel.Scripts)
        {
            error = new ScriptException(
                ScriptFault.NotSupported,
                "Not all members of this cluster can run this script yet: until 'rookery cluster finalize-upgrade' "
                    + "ends the upgrade, scripts may have only the lines that typed session patches send",
                position: 0
            ).ToInputError(text);
            return false;
        }

        if (formatLevel < FormatLevel.ScriptsOfSecondVersion && !script.IsOfFirstVersion)
        {
            error = new ScriptException(
                ScriptFault.NotSupported,
                "Not all members of this cluster can run this script yet: until 'rookery cluster finalize-upgrade' "
                    + "ends the upgrade, scripts must not use bitwise operators, 'in', 'throw', 'for … in', 'sort' "
                    + "with a function, regular expressions, dates or other functions of this version",
                position: 0
            ).ToInputError(text);
            return false;
        }

        error = default;
        var program = script.Bytes.Span;
        output.Advance(Varint.WriteBytes(output.Reserve(Varint.MaxBytes32 + program.Length), program));
        byte[] minimised = arguments.ToArray();
        var values = minimised.AsSpan(0, JsonText.Minimise(minimised, minimised));
        output.Advance(Varint.WriteBytes(output.Reserve(Varint.MaxBytes32 + values.Length), values));
        return true;
    }
}
