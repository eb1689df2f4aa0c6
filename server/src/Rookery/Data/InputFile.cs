using Rookery.Access;
using Rookery.Hosting;
using Rookery.Hosting.Logging;

namespace Rookery.Data;

/// <summary>Reads an input file of a command, or stdin.</summary>
internal static class InputFile
{
    // Eight times the largest document, for blanks between its values.
    private const int MaxBytes = 64 << 20;

    /// <summary>Reads the whole file.</summary>
    /// <exception cref="AdminException">It cannot be read, or is larger than any document or index
    /// definition.</exception>
    public static async Task<byte[]> ReadAllAsync(string path)
    {
        await using var input = Open(path);
        using var bytes = new MemoryStream();
        byte[] part = new byte[64 << 10];
        while (true)
        {
            int read = await input.ReadAsync(part);
            if (read == 0)
            {
                return bytes.ToArray();
            }

            bytes.Write(part.AsSpan(0, read));
            if (bytes.Length > MaxBytes)
            {
                string name = path is "-" ? "stdin" : path;
                throw new AdminException(
                    $"{name} holds more than {MaxBytes >> 20} MiB, which is too large for one document or index.",
                    ExitCode.BadInput
                );
            }
        }
    }

    /// <summary>Opens the file; `-` is stdin.</summary>
    /// <exception cref="AdminException">It cannot be read.</exception>
    public static Stream Open(string path)
    {
        if (path is "-")
        {
            if (!Console.IsInputRedirected)
            {
                Console.Error.WriteLine("Reading from the terminal; Ctrl+D ends it.");
            }

            return StandardStream.OpenInput();
        }

        try
        {
            return File.Open(
                path,
                new FileStreamOptions
                {
                    Mode = FileMode.Open,
                    Access = FileAccess.Read,
                    Share = FileShare.ReadWrite | FileShare.Delete,
                    Options = FileOptions.SequentialScan,
                }
            );
        }
        catch (Exception unreadable) when (unreadable is IOException or UnauthorizedAccessException)
        {
            throw Refuse(path, unreadable);
        }
    }

    /// <summary>Returns the refusal of a file that cannot be opened, with the reason.</summary>
    public static AdminException Refuse(string path, Exception unreadable)
    {
        string why = unreadable switch
        {
            FileNotFoundException or DirectoryNotFoundException => "there is no such file",
            _ when Directory.Exists(path) => "it is a directory",
            UnauthorizedAccessException => "permission denied",
            _ => unreadable.Message.TrimEnd('.'),
        };
        return new AdminException($"The file {path} cannot be read: {why}.", ExitCode.Configuration);
    }
}
