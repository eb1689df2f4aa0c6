using System.Globalization;
using System.Text;
using Rookery.Disk;
using Rookery.Documents.Json;

namespace Rookery.Documents.Patching;

/// <summary>
/// Compiles the scripts that typed session patches send (wire page, §4) into a list of operations, so that apply never reads script text.
/// Anything else is JavaScript that this server does not run, and is refused by name.
/// </summary>
/// <remarks>
/// An operation: <c>[operation u8][path varint+bytes][value varint+JSON]</c>. A path is a row of segments, each <c>[0][name varint+bytes]</c> or <c>[1][index varint]</c>.
/// </remarks>
internal ref struct ScriptCompiler
{
    /// <summary>First byte of a path's segment that names a member.</summary>
    public const byte NameSegment = 0;

    /// <summary>First byte of a path's segment that is an index.</summary>
    public const byte IndexSegment = 1;

    private const int MostQuotedBytes = 60;

    private readonly ReadOnlySpan<byte> script;
    private readonly PatchArguments arguments;
    private readonly PooledBytes output;
    private readonly PooledBytes path;
    private int position;
    private bool endsWithIndex;
    private InputError error;

    private ScriptCompiler(ReadOnlySpan<byte> script, PatchArguments arguments, PooledBytes output, PooledBytes path)
    {
        this.script = script;
        this.arguments = arguments;
        this.output = output;
        this.path = path;
    }

    /// <summary>Appends the compiled script to <paramref name="output"/>.</summary>
    /// <param name="script">The script, UTF-8.</param>
    /// <param name="arguments">What <c>args</c> holds.</param>
    /// <param name="output">Where the program goes.</param>
    /// <param name="error">Why it was refused; offsets count in the script.</param>
    public static bool TryCompile(ReadOnlySpan<byte> script, PatchArguments arguments, PooledBytes output, out InputError error)
    {
        var compiler = new ScriptCompiler(script, arguments, output, new PooledBytes());
        bool isCompiled = compiler.TryCompile();
        error = compiler.error;
        compiler.path.Release();
        return isCompiled;
    }

    private bool TryCompile()
    {
        int lines = 0;
        for (SkipWhile(" \t\r\n;"u8); position < script.Length; SkipWhile(" \t\r\n;"u8))
        {
            int start = position;
            if (!TryStatement() || !TryEndOfStatement())
            {
                return !error.IsError && Unsupported(start);
            }

            lines++;
        }

        return lines > 0 || Fail(InputErrorCode.InvalidPatch, 0, "The patch script is empty", "Send at least one line");
    }

    private bool TryStatement()
    {
        if (TakeWord("delete"u8))
        {
            // JavaScript leaves a hole in an array, which JSON has not.
            return TryPath(out ReadOnlySpan<byte> called) && called.IsEmpty && !endsWithIndex && Emit(ScriptOperation.Delete, default);
        }

        if (!TryPath(out ReadOnlySpan<byte> method))
        {
            return false;
        }

        if (method.SequenceEqual("push"u8))
        {
            return TryPush();
        }

        if (method.SequenceEqual("splice"u8))
        {
            return TryArgument(out ReadOnlySpan<byte> index) && Take((byte)',') && Take((byte)'1') && Take((byte)')') && Emit(ScriptOperation.RemoveAt, index);
        }

        if (!method.IsEmpty || !Take((byte)'='))
        {
            return false;
        }

        SkipWhile(" \t"u8);
        return script[position..].StartsWith("this"u8)
            ? TryIncrement()
            : TryArgument(out ReadOnlySpan<byte> value) && Emit(ScriptOperation.Assign, value);
    }

    /// <summary>The rest of <c>this.P.push(args.v, …)</c>.</summary>
    private bool TryPush()
    {
        do
        {
            if (!TryArgument(out ReadOnlySpan<byte> value) || !Emit(ScriptOperation.Push, value))
            {
                return false;
            }
        }
        while (Take((byte)','));
        return Take((byte)')');
    }

    /// <summary>The rest of <c>this.P = this.P ? this.P + args.v : args.v</c>: all paths alike, both arguments alike.</summary>
    private bool TryIncrement()
    {
        byte[] target = path.Written.ToArray();
        bool isShaped = TryPath(out ReadOnlySpan<byte> method) && method.IsEmpty && path.Written.SequenceEqual(target) && Take((byte)'?')
            && TryPath(out method) && method.IsEmpty && path.Written.SequenceEqual(target) && Take((byte)'+');
        return isShaped && TryArgument(out ReadOnlySpan<byte> value) && Take((byte)':') && TryArgument(out ReadOnlySpan<byte> other)
            && value.SequenceEqual(other) && Emit(ScriptOperation.Increment, value);
    }

    /// <summary>Reads <c>this.a.b[0]["c"]</c> into <see cref="path"/>, and the name of a method called on it.</summary>
    private bool TryPath(out ReadOnlySpan<byte> method)
    {
        method = default;
        path.Clear();
        if (!TakeWord("this"u8))
        {
            return false;
        }

        int segments = 0;
        while (position < script.Length && script[position] is (byte)'.' or (byte)'[')
        {
            if (script[position++] == (byte)'[')
            {
                if (!TryBracket() || !Take((byte)']'))
                {
                    return false;
                }
            }
            else if (TryIdentifier(out ReadOnlySpan<byte> name))
            {
                if (position < script.Length && script[position] == (byte)'(')
                {
                    position++;
                    method = name;
                    return segments > 0;
                }

                AppendName(name);
            }
            else
            {
                return false;
            }

            segments++;
        }

        return segments > 0 && !IsMetadata();
    }

    /// <summary>Reads an index, or a name in quotes without escapes.</summary>
    private bool TryBracket()
    {
        if (position >= script.Length)
        {
            return false;
        }

        byte quote = script[position];
        if (quote is (byte)'"' or (byte)'\'')
        {
            int length = script[(position + 1)..].IndexOfAny(quote, (byte)'\\');
            if (length <= 0 || script[position + 1 + length] != quote)
            {
                return false;
            }

            AppendName(script.Slice(position + 1, length));
            position += length + 2;
            return true;
        }

        int start = position;
        SkipWhile("0123456789"u8);
        if (!int.TryParse(script[start..position], NumberStyles.None, CultureInfo.InvariantCulture, out int index))
        {
            return false;
        }

        endsWithIndex = true;
        path.Append(IndexSegment);
        path.Advance(Varint.Write(path.Reserve(Varint.MaxBytes), (uint)index));
        return true;
    }

    /// <summary>Reads <c>args.name</c> or <c>$name</c>.</summary>
    private bool TryArgument(out ReadOnlySpan<byte> value)
    {
        value = default;
        SkipWhile(" \t"u8);
        int start = position;
        if (script[position..].StartsWith("args."u8))
        {
            position += "args."u8.Length;
        }
        else if (!Take((byte)'$'))
        {
            return false;
        }

        return TryIdentifier(out ReadOnlySpan<byte> name)
            && (arguments.TryGet(name, out value)
                || Fail(InputErrorCode.InvalidPatch, start, $"The patch script uses {Encoding.UTF8.GetString(script[start..position])}, which Values does not hold", "Send the value"));
    }

    private bool TryIdentifier(out ReadOnlySpan<byte> name)
    {
        int start = position;
        while (position < script.Length && (char.IsAsciiLetterOrDigit((char)script[position]) || script[position] is (byte)'_' or (byte)'$' or >= 0x80))
        {
            position++;
        }

        name = script[start..position];
        return !name.IsEmpty && !char.IsAsciiDigit((char)name[0]);
    }

    /// <summary>Passes a word and the blanks behind it; the word must not go on.</summary>
    private bool TakeWord(ReadOnlySpan<byte> word)
    {
        SkipWhile(" \t"u8);
        int start = position;
        if (TryIdentifier(out ReadOnlySpan<byte> name) && name.SequenceEqual(word))
        {
            return true;
        }

        position = start;
        return false;
    }

    /// <summary>Passes blanks and one character.</summary>
    private bool Take(byte character)
    {
        SkipWhile(" \t"u8);
        if (position >= script.Length || script[position] != character)
        {
            return false;
        }

        position++;
        return true;
    }

    private bool TryEndOfStatement()
    {
        SkipWhile(" \t"u8);
        return position == script.Length || script[position] is (byte)';' or (byte)'\r' or (byte)'\n';
    }

    private void SkipWhile(ReadOnlySpan<byte> characters)
    {
        int length = script[position..].IndexOfAnyExcept(characters);
        position = length < 0 ? script.Length : position + length;
    }

    private void AppendName(ReadOnlySpan<byte> name)
    {
        endsWithIndex = false;
        path.Append(NameSegment);
        path.Advance(StoredDocument.WriteBytes(path.Reserve(Varint.MaxBytes + name.Length), 0, name));
    }

    /// <summary>Whether the path leads into the metadata, which scripts cannot change here.</summary>
    private readonly bool IsMetadata()
    {
        int at = 1;
        return path.Written[0] == NameSegment
            && Varint.TryReadBytes(path.Written, ref at, out ReadOnlySpan<byte> name) && name.SequenceEqual(MetadataReader.MemberName);
    }

    /// <summary>Adds an operation. One short line may name a long value, so a script's length does not bound its program.</summary>
    private bool Emit(ScriptOperation operation, ReadOnlySpan<byte> value)
    {
        if (output.Length + path.Length + value.Length > DocumentLimits.MaxDocumentBytes)
        {
            return Fail(
                InputErrorCode.InvalidPatch,
                position,
                $"The patch script and its values take more than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}",
                "Send fewer lines");
        }

        output.Append((byte)operation);
        output.Advance(StoredDocument.WriteBytes(output.Reserve(Varint.MaxBytes + path.Length), 0, path.Written));
        output.Advance(StoredDocument.WriteBytes(output.Reserve(Varint.MaxBytes + value.Length), 0, value));
        return true;
    }

    private bool Unsupported(int start)
    {
        ReadOnlySpan<byte> line = script[start..];
        int end = line.IndexOfAny((byte)'\r', (byte)'\n');
        line = end < 0 ? line : line[..end];
        string quoted = line.Length <= MostQuotedBytes ? Encoding.UTF8.GetString(line) : Encoding.UTF8.GetString(line[..MostQuotedBytes]) + "…";
        return Fail(
            InputErrorCode.NotSupported,
            start,
            $"The patch script's '{quoted}' is JavaScript that this server does not run",
            "Use the lines of typed session patches (this.a.b = args.v, an increment, .push(args.v), .splice(args.i, 1), delete this.a.b), or a merge patch");
    }

    private bool Fail(InputErrorCode code, int at, string what, string advice)
    {
        error = new InputError(code, what, new InputPlace(at, script[..at].Count((byte)'\n') + 1, "Script"), advice);
        return false;
    }
}
