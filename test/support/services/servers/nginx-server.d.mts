export declare const HAS_NGINX: boolean
export declare const HOW_TO_GET_NGINX: string

export interface NginxServer<Ports = { clearingHouse: number; reporting: number }> {
  ports: Ports
  /** All of its processes. */
  pids(): number[]
  accessLog(): Promise<string>
  errorLog(): Promise<string>
  start(): Promise<void>
  remove(): Promise<void>
}

export interface Upstreams {
  clearing_house?: readonly number[]
  reporting?: readonly number[]
}

export declare function nginxServer(upstreams: Upstreams): Promise<NginxServer>
export declare function nginxWith<Ports extends Record<string, number>>(
  site: string,
  ports: Ports,
): Promise<NginxServer<Ports>>
