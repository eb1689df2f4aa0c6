using System.Globalization;

namespace Rookery.Json;

/// <summary>How a refusal is to be answered.</summary>
public enum InputErrorKind : byte
{
    /// <summary>The request is wrong: HTTP 400.</summary>
    BadRequest = 0,

    /// <summary>A limit is exceeded: HTTP 413.</summary>
    TooLarge = 1,

    /// <summary>The request asks for something this server does not do: HTTP 501, and the text names it.</summary>
    NotSupported = 2,
}

/// <summary>
/// Why bytes from a client were refused. A value, because refusing is ordinary work and must stay cheap.
/// </summary>
/// <param name="Code">The machine-readable reason; <see cref="InputErrorCode.None"/> when there is no error.</param>
/// <param name="What">What is wrong, a sentence without its full stop.</param>
/// <param name="Where">Where it was found.</param>
/// <param name="Advice">What the sender can do about it, a sentence without its full stop.</param>
public readonly record struct InputError(InputErrorCode Code, string What, InputPlace Where, string Advice)
{
    /// <summary>No error.</summary>
    public static InputError None => default;

    /// <summary>True when this is an error.</summary>
    public bool IsError => Code != InputErrorCode.None;

    /// <summary>How the refusal is to be answered.</summary>
    public InputErrorKind Kind =>
        Code switch
        {
            InputErrorCode.DocumentTooLarge or InputErrorCode.BatchTooLarge => InputErrorKind.TooLarge,
            InputErrorCode.NotSupported => InputErrorKind.NotSupported,
            _ => InputErrorKind.BadRequest,
        };

    /// <summary>What, where and what to do, in one line.</summary>
    public override string ToString() => IsError ? $"{What} ({Where}). {Advice}." : "";
}

/// <summary>A place in what a client sent.</summary>
/// <param name="ByteOffset">Bytes before the place, counted from the beginning of the body, line or stream; -1 when the
/// place is not in the bytes (a query parameter).</param>
/// <param name="Line">Line, from 1; 0 when lines mean nothing here.</param>
/// <param name="Path">JSON path ("$.lines[2].product") or the name of the parameter; empty at the top.</param>
/// <param name="Element">Number of the stream's element or the batch's command, from 0; -1 outside of one.</param>
public readonly record struct InputPlace(long ByteOffset, long Line = 0, string? Path = null, long Element = -1)
{
    /// <summary>The place in words: "command 3, $.Document.a, line 1, byte 42".</summary>
    public override string ToString()
    {
        var parts = new List<string>(4);
        if (Element >= 0)
        {
            parts.Add(string.Create(CultureInfo.InvariantCulture, $"element {Element}"));
        }

        if (!string.IsNullOrEmpty(Path))
        {
            parts.Add(Path);
        }

        if (Line > 0)
        {
            parts.Add(string.Create(CultureInfo.InvariantCulture, $"line {Line}"));
        }

        if (ByteOffset >= 0)
        {
            parts.Add(string.Create(CultureInfo.InvariantCulture, $"byte {ByteOffset}"));
        }

        return string.Join(", ", parts);
    }
}
