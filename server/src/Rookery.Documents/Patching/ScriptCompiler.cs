using System.Globalization;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Patching;

/// <summary>
/// Compiles the simple scripts of typed session patches to a list of operations, so that apply never parses script
/// text. Does not compile any other JavaScript, which <see cref="PatchScript"/> then compiles.
/// </summary>
/// <remarks>
/// An operation: <c>[operation u8][path varint+bytes][value varint+JSON]</c>. A path is a list of segments, each
/// <c>[0][name varint+bytes]</c> or <c>[1][index varint]</c>.
/// </remarks>
internal ref struct ScriptCompiler
{
    /// <summary>First byte of a path segment with a name.</summary>
    public const byte NameSegment = 0;

    /// <summary>First byte of a path segment with an index.</summary>
    public const byte IndexSegment = 1;

    private readonly ReadOnlySpan<byte> _script;
    private readonly PatchArguments _arguments;
    private readonly PooledBytes _output;
    private readonly PooledBytes _path;
    private int _position;
    private bool _endsWithIndex; // whether the last segment of the path is an index
    private InputError _error;

    private ScriptCompiler(ReadOnlySpan<byte> script, PatchArguments arguments, PooledBytes output, PooledBytes path)
    {
        _script = script;
        _arguments = arguments;
        _output = output;
        _path = path;
    }

    /// <summary>Appends the compiled script to <paramref name="output"/>.</summary>
    /// <param name="script">The script, UTF-8.</param>
    /// <param name="arguments">The value of <c>args</c>.</param>
    /// <param name="output">Receives the program.</param>
    /// <param name="error">
    /// The reason for a refusal; its offset counts from the script's start. No error if the script is other JavaScript.
    /// </param>
    public static bool TryCompile(
        ReadOnlySpan<byte> script,
        PatchArguments arguments,
        PooledBytes output,
        out InputError error
    )
    {
        var compiler = new ScriptCompiler(script, arguments, output, new PooledBytes());
        bool isCompiled = compiler.TryCompile();
        error = compiler._error;
        compiler._path.Release();
        return isCompiled;
    }

    private bool TryCompile()
    {
        for (SkipWhile(" \t\r\n;"u8); _position < _script.Length; SkipWhile(" \t\r\n;"u8))
        {
            if (!TryParseStatement() || !IsAtEndOfStatement())
            {
                return false;
            }
        }

        return true;
    }

    private bool TryParseStatement()
    {
        if (TrySkipWord("delete"u8))
        {
            // In JavaScript, the deletion of an element leaves a hole in the array, which JSON cannot represent.
            return TryParsePath(out ReadOnlySpan<byte> called)
                && called.IsEmpty
                && !_endsWithIndex
                && Emit(ScriptOperation.Delete, default);
        }

        if (!TryParsePath(out ReadOnlySpan<byte> method))
        {
            return false;
        }

        if (method.SequenceEqual("push"u8))
        {
            return TryParsePush();
        }

        if (method.SequenceEqual("splice"u8))
        {
            return TryParseArgument(out ReadOnlySpan<byte> index)
                && TrySkip((byte)',')
                && TrySkip((byte)'1')
                && TrySkip((byte)')')
                && Emit(ScriptOperation.RemoveAt, index);
        }

        if (!method.IsEmpty || !TrySkip((byte)'='))
        {
            return false;
        }

        SkipWhile(" \t"u8);
        return _script[_position..].StartsWith("this"u8)
            ? TryParseIncrement()
            : TryParseArgument(out ReadOnlySpan<byte> value) && Emit(ScriptOperation.Assign, value);
    }

    /// <summary>Parses the rest of <c>this.P.push(args.v, …)</c>.</summary>
    private bool TryParsePush()
    {
        do
        {
            if (!TryParseArgument(out ReadOnlySpan<byte> value) || !Emit(ScriptOperation.Push, value))
            {
                return false;
            }
        } while (TrySkip((byte)','));
        return TrySkip((byte)')');
    }

    /// <summary>
    /// Parses the rest of <c>this.P = this.P ? this.P + args.v : args.v</c>; all paths must be equal, and both
    /// arguments too.
    /// </summary>
    private bool TryParseIncrement()
    {
        byte[] target = _path.Written.ToArray();
        bool isConditionalSum =
            TryParsePath(out ReadOnlySpan<byte> method)
            && method.IsEmpty
            && _path.Written.SequenceEqual(target)
            && TrySkip((byte)'?')
            && TryParsePath(out method)
            && method.IsEmpty
            && _path.Written.SequenceEqual(target)
            && TrySkip((byte)'+');
        return isConditionalSum
            && TryParseArgument(out ReadOnlySpan<byte> value)
            && TrySkip((byte)':')
            && TryParseArgument(out ReadOnlySpan<byte> other)
            && value.SequenceEqual(other)
            && Emit(ScriptOperation.Increment, value);
    }

    /// <summary>
    /// Parses <c>this.a.b[0]["c"]</c> into <see cref="_path"/>, and the name of a method called on it.
    /// </summary>
    private bool TryParsePath(out ReadOnlySpan<byte> method)
    {
        method = default;
        _path.Clear();
        if (!TrySkipWord("this"u8))
        {
            return false;
        }

        int segments = 0;
        while (_position < _script.Length && _script[_position] is (byte)'.' or (byte)'[')
        {
            if (_script[_position++] == (byte)'[')
            {
                if (!TryParseBracket() || !TrySkip((byte)']'))
                {
                    return false;
                }
            }
            else if (TryParseIdentifier(out ReadOnlySpan<byte> name))
            {
                if (_position < _script.Length && _script[_position] == (byte)'(')
                {
                    _position++;
                    method = name;
                    return segments > 0 && !IsMetadata();
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

    /// <summary>Parses an index, or a quoted name without escapes.</summary>
    private bool TryParseBracket()
    {
        if (_position >= _script.Length)
        {
            return false;
        }

        byte quote = _script[_position];
        if (quote is (byte)'"' or (byte)'\'')
        {
            int length = _script[(_position + 1)..].IndexOfAny(quote, (byte)'\\');
            if (length <= 0 || _script[_position + 1 + length] != quote)
            {
                return false;
            }

            AppendName(_script.Slice(_position + 1, length));
            _position += length + 2;
            return true;
        }

        int start = _position;
        SkipWhile("0123456789"u8);
        if (!int.TryParse(_script[start.._position], NumberStyles.None, CultureInfo.InvariantCulture, out int index))
        {
            return false;
        }

        _endsWithIndex = true;
        _path.Append(IndexSegment);
        _path.Advance(Varint.Write(_path.Reserve(Varint.MaxBytes32), (uint)index));
        return true;
    }

    /// <summary>
    /// Parses <c>args.name</c> or <c>$name</c>. Returns false if there is no such value: in JavaScript it is undefined,
    /// which the list of operations cannot express, so the script is interpreted.
    /// </summary>
    private bool TryParseArgument(out ReadOnlySpan<byte> value)
    {
        value = default;
        SkipWhile(" \t"u8);
        if (_script[_position..].StartsWith("args."u8))
        {
            _position += "args."u8.Length;
        }
        else if (!TrySkip((byte)'$'))
        {
            return false;
        }

        return TryParseIdentifier(out ReadOnlySpan<byte> name) && _arguments.TryGet(name, out value);
    }

    private bool TryParseIdentifier(out ReadOnlySpan<byte> name)
    {
        int start = _position;
        while (
            _position < _script.Length
            && (
                char.IsAsciiLetterOrDigit((char)_script[_position])
                || _script[_position] is (byte)'_' or (byte)'$' or >= 0x80
            )
        )
        {
            _position++;
        }

        name = _script[start.._position];
        return !name.IsEmpty && !char.IsAsciiDigit((char)name[0]);
    }

    /// <summary>Skips whitespace and one whole word; returns false if another word follows.</summary>
    private bool TrySkipWord(ReadOnlySpan<byte> word)
    {
        SkipWhile(" \t"u8);
        int start = _position;
        if (TryParseIdentifier(out ReadOnlySpan<byte> name) && name.SequenceEqual(word))
        {
            return true;
        }

        _position = start;
        return false;
    }

    /// <summary>Skips whitespace and one character; returns false if another character follows.</summary>
    private bool TrySkip(byte character)
    {
        SkipWhile(" \t"u8);
        if (_position >= _script.Length || _script[_position] != character)
        {
            return false;
        }

        _position++;
        return true;
    }

    private bool IsAtEndOfStatement()
    {
        SkipWhile(" \t"u8);
        return _position == _script.Length || _script[_position] is (byte)';' or (byte)'\r' or (byte)'\n';
    }

    private void SkipWhile(ReadOnlySpan<byte> characters)
    {
        int length = _script[_position..].IndexOfAnyExcept(characters);
        _position = length < 0 ? _script.Length : _position + length;
    }

    private void AppendName(ReadOnlySpan<byte> name)
    {
        _endsWithIndex = false;
        _path.Append(NameSegment);
        _path.Advance(Varint.WriteBytes(_path.Reserve(Varint.MaxBytes32 + name.Length), name));
    }

    /// <summary>
    /// Whether the path begins with <c>@metadata</c>. The operations change only the body, which does not contain it,
    /// so such a script is interpreted.
    /// </summary>
    private readonly bool IsMetadata()
    {
        int at = 1;
        return _path.Written[0] == NameSegment
            && Varint.TryReadBytes(_path.Written, ref at, out ReadOnlySpan<byte> name)
            && name.SequenceEqual(MetadataReader.MemberName);
    }

    /// <summary>
    /// Appends an operation. A short line may use a long value, so the script's length does not bound the program's.
    /// </summary>
    private bool Emit(ScriptOperation operation, ReadOnlySpan<byte> value)
    {
        if (_output.Length + _path.Length + value.Length > DocumentLimits.MaxDocumentBytes)
        {
            return Fail(
                InputErrorCode.InvalidPatch,
                _position,
                $"The patch script and its values take more than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}",
                "Send fewer lines"
            );
        }

        _output.Append((byte)operation);
        _output.Advance(Varint.WriteBytes(_output.Reserve(Varint.MaxBytes32 + _path.Length), _path.Written));
        _output.Advance(Varint.WriteBytes(_output.Reserve(Varint.MaxBytes32 + value.Length), value));
        return true;
    }

    private bool Fail(InputErrorCode code, int at, string problem, string advice)
    {
        _error = new InputError(
            code,
            problem,
            new InputPlace(at, _script[..at].Count((byte)'\n') + 1, "Script"),
            advice
        );
        return false;
    }
}
