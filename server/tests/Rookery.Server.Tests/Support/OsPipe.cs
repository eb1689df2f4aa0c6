using System.ComponentModel;
using System.IO.Pipes;
using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;
using Rookery.Hosting.Logging;

namespace Rookery.Server.Tests.Support;

/// <summary>A pipe of the kernel, as stdout and stderr are: its writing end is one that was handed down.</summary>
internal sealed partial class OsPipe : IDisposable
{
    // What a pipe of Linux holds.
    private const int Bytes = 64 << 10;

    private const int SetDescriptorFlags = 2;
    private const int ClosesOnExecute = 1;

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

        // A process that another test starts would keep it open.
        _ = Control(_writer, SetDescriptorFlags, ClosesOnExecute);
    }

    public StandardStream Stream { get; }

    /// <summary>Leaves no room, by so many signs.</summary>
    public int Fill()
    {
        Stream.Write(new byte[Bytes]);
        return Bytes;
    }

    /// <summary>Reads so many bytes as text.</summary>
    public string Read(int count)
    {
        byte[] bytes = new byte[count];
        _reader.ReadExactly(bytes);
        return Encoding.UTF8.GetString(bytes);
    }

    /// <summary>Closes the writing end, and reads what is left.</summary>
    public string ReadToEnd()
    {
        CloseWriter();
        using var text = new StreamReader(_reader);
        return text.ReadToEnd();
    }

    /// <summary>Nobody reads any more.</summary>
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
