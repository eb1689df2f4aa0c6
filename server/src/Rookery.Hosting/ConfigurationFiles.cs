using Rookery.Server.Configuration;

namespace Rookery.Hosting;

/// <summary>Reads the configuration file, and the files that it names.</summary>
public static class ConfigurationFiles
{
    private const int MaxBytes = 4 << 20;

    /// <summary>Reads the settings of a configuration file.</summary>
    /// <exception cref="ConfigurationException">The file cannot be read, or a setting in it is invalid.</exception>
    public static ServeSettings Read(string path) =>
        ConfigurationFile.Parse(path, ReadBytes(path, "The configuration file"));

    /// <summary>Reads a file that the configuration names.</summary>
    /// <param name="path">The file.</param>
    /// <param name="subject">What the file is, such as "The configuration file"; messages begin with it.</param>
    /// <exception cref="ConfigurationException">The file cannot be read.</exception>
    public static byte[] ReadBytes(string path, string subject)
    {
        try
        {
            using var file = File.OpenHandle(path);
            using var bytes = new MemoryStream();
            byte[] part = new byte[16 << 10];
            while (true)
            {
                int read = RandomAccess.Read(file, part, bytes.Length);
                if (read == 0)
                {
                    return bytes.ToArray();
                }

                bytes.Write(part.AsSpan(0, read));
                if (bytes.Length > MaxBytes)
                {
                    throw new ConfigurationException(
                        $"{subject} {path} holds more than {MaxBytes >> 20} MiB, so it is another kind of file."
                    );
                }
            }
        }
        catch (Exception unreadable) when (unreadable is IOException or UnauthorizedAccessException)
        {
            throw new ConfigurationException($"{subject} {path} cannot be read: {Describe(unreadable)}.");
        }
    }

    private static string Describe(Exception unreadable) =>
        unreadable switch
        {
            FileNotFoundException or DirectoryNotFoundException => "there is no such file",
            UnauthorizedAccessException => "permission denied, or it is a directory",
            PathTooLongException => "its name is too long",
            _ => "the system refuses to read it",
        };
}
