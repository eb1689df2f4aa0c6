using System.ComponentModel;
using System.IO.Pipes;
using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;
using Rookery.Hosting.Logging;

namespace Rookery.Server.Tests.Support;

/// <summary>A pipe of the kernel, as stdout and stderr may be.</summary>
internal sealed partial class OsPipe : IDisposable
{
    // Capacity of a pipe on Linux.
    private const int Capacity = 64 << 10;

    // F_SETFD and FD_CLOEXEC of fcntl.
    private const int SetDescriptorFlags = 2;
    private const int CloseOnExecute = 1;

    private readonly AnonymousPipeClientStream _reader;
    private int _writer;

    public OsPipe()
    {
        int[] ends = new int[2];
        if (Open(ends) != 0)
        {
            throw new Win32Exception(Marshal.GetLastPInvokeError());
        }

        _reader = new AnonymousPipeClientStream(PipeDirection.In, new SafePipeHandle((nint)ends[0], ownsHandle: true));
        _writer = ends[1];
        Stream = new StandardStream(_writer);

        // Otherwise a process that another test starts would keep it open.
        _ = Control(_writer, SetDescriptorFlags, CloseOnExecute);
    }

    /// <summary>The writing end.</summary>
    public StandardStream Stream { get; }

    /// <summary>Fills the pipe and returns the number of bytes.</summary>
    public int Fill()
    {
        Stream.Write(new byte[Capacity]);
        return Capacity;
    }

    /// <summary>Reads <paramref name="count"/> bytes as text.</summary>
    public string Read(int count)
    {
        byte[] bytes = new byte[count];
        _reader.ReadExactly(bytes);
        return Encoding.UTF8.GetString(bytes);
    }

    /// <summary>Closes the writing end, and reads the rest.</summary>
    public string ReadToEnd()
    {
        CloseWriter();
        using var text = new StreamReader(_reader);
        return text.ReadToEnd();
    }

    /// <summary>Closes the reading end.</summary>
    public void CloseReader() => _reader.Dispose();

    public void CloseWriter()
    {
        if (_writer >= 0)
        {
            _ = Close(_writer);
            _writer = -1;
        }
    }

    public void Dispose()
    {
        _reader.Dispose();
        CloseWriter();
    }

    [LibraryImport("libc", EntryPoint = "pipe", SetLastError = true)]
    private static partial int Open([Out] int[] ends);

    [LibraryImport("libc", EntryPoint = "fcntl")]
    private static partial int Control(int descriptor, int command, int value);

    [LibraryImport("libc", EntryPoint = "close")]
    private static partial int Close(int descriptor);
}
