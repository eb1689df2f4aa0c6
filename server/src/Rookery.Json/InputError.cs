using System.Globalization;

namespace Rookery.Json;

/// <summary>The HTTP status of an error.</summary>
public enum InputErrorKind : byte
{
    /// <summary>The request is wrong: HTTP 400.</summary>
    BadRequest = 0,

    /// <summary>A document or batch exceeds its limit: HTTP 413.</summary>
    TooLarge = 1,

    /// <summary>
    /// The request needs something that this server does not support: HTTP 501. The message names it.
    /// </summary>
    NotSupported = 2,
}

/// <summary>
/// The reason why bytes from a client are rejected. A value and not an exception, because rejections are frequent and
/// must be cheap.
/// </summary>
/// <param name="Code">The machine-readable reason; <see cref="InputErrorCode.None"/> if there is no error.</param>
/// <param name="What">What is wrong: a sentence without a full stop.</param>
/// <param name="Where">Where the error was found.</param>
/// <param name="Advice">What the sender can do: a sentence without a full stop.</param>
public readonly record struct InputError(InputErrorCode Code, string What, InputPlace Where, string Advice)
{
    /// <summary>No error.</summary>
    public static InputError None => default;

    /// <summary>Whether this is an error.</summary>
    public bool IsError => Code != InputErrorCode.None;

    /// <summary>The HTTP status of the error.</summary>
    public InputErrorKind Kind =>
        Code switch
        {
            InputErrorCode.DocumentTooLarge or InputErrorCode.BatchTooLarge => InputErrorKind.TooLarge,
            InputErrorCode.NotSupported => InputErrorKind.NotSupported,
            _ => InputErrorKind.BadRequest,
        };

    /// <summary>Returns what is wrong, where, and what to do, in one line.</summary>
    public override string ToString() => IsError ? $"{What} ({Where}). {Advice}." : "";
}

/// <summary>A position in the bytes that a client sent.</summary>
/// <param name="ByteOffset">Number of bytes before the position in the body, line or stream; -1 if the error is
/// elsewhere, for example in a query parameter.</param>
/// <param name="Line">The line, from 1; 0 if lines do not apply.</param>
/// <param name="Path">The JSON path, such as "$.lines[2].product", or the name of the parameter; empty at the
/// top.</param>
/// <param name="Element">The number of the stream's element or the batch's command, from 0; -1 if the position is in
/// none.</param>
public readonly record struct InputPlace(long ByteOffset, long Line = 0, string? Path = null, long Element = -1)
{
    /// <summary>Returns the position in words: "element 3, $.Document.a, line 1, byte 42".</summary>
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
